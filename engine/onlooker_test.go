package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// watching is an onlooker of partial answers.
type watching func(known generable.Value, p *generable.Partial) error

func (w watching) Observe(func(string)) engine.StreamObserver {
	return engine.StreamObserver{Partial: w}
}

// Who listens to the events of a partial answer and who looks on from the script see the same, and the
// answer is read once for both.
func TestListenersAndOnlookersShareOneReading(t *testing.T) {
	mail := schema(t, "Mail", generable.Field{Name: "kind", Type: generable.StrT}, generable.Field{Name: "tags", Type: generable.ListOfType(generable.StrT)})
	answer := `{"kind": "ad", "tags": [` + strings.Repeat(`"a tag of some length", `, 500) + `"end"]}`
	h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		for attempt := 1; attempt <= 2; attempt++ {
			if sink != nil {
				for at, n := 0, 0; at < len(answer)/(3-attempt); n++ {
					end := min(at+7, len(answer))
					sink(engine.Token{Attempt: attempt, Seq: n, Text: answer[at:end]})
					at = end
				}
			}
		}
		r := says(answer)
		return engine.Outcome{Response: &r, Attempt: 2}
	})
	see := func(listen, look bool) (heard, looked []string, allocs float64) {
		c := compose()
		spec := &agent.AgentSpec{Name: "a", In: strT, Out: mail, Prompt: "Sort."}
		count := 0
		if look {
			spec.Observer = watching(func(known generable.Value, p *generable.Partial) error {
				if count++; count%50 == 1 {
					looked = append(looked, fmt.Sprint(p.ArrivedFieldNames(), generable.JSON(known, nil)))
				}
				return nil
			})
		}
		main := c.Agent(c.site("agent", "a"), spec)
		c.sound(t)
		l := engine.Listener{}
		if listen {
			l = engine.Listener{Kinds: engine.EventPartial, Emit: func(ev engine.Event) {
				if ev.Data.(*engine.PartialData).Snapshot != nil {
					heard = append(heard, ev.Name())
				}
			}}
		}
		run := func() {
			count, heard, looked = 0, nil, nil
			out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "test/model", Listener: l})
			if err != nil || !strings.Contains(generable.JSON(out, nil), `"end"`) {
				t.Fatal(err)
			}
		}
		run()
		return heard, looked, testing.AllocsPerRun(3, run)
	}
	_, _, nothing := see(false, false)
	heard, _, listening := see(true, false)
	_, looked, looking := see(false, true)
	heardToo, lookedToo, both := see(true, true)
	if len(heard) < 500 || !slices.Equal(heard, heardToo) || len(looked) < 10 || !slices.Equal(looked, lookedToo) {
		t.Errorf("alone %d and %d were told, together %d and %d", len(heard), len(looked), len(heardToo), len(lookedToo))
	}
	t.Logf("allocations: %.0f without, %.0f listening, %.0f looking on, %.0f both", nothing, listening, looking, both)
	if reading := listening - nothing; !raceDetector && both > looking+reading/2 {
		t.Errorf("%.0f allocations with both, %.0f and %.0f with one, %.0f with none: the answer is read twice", both, listening, looking, nothing)
	}
}
