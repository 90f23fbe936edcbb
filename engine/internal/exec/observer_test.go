package exec_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/testenv"
)

// watching is an observer of partial answers.
type watching func(known generable.Value, p *generable.Partial) error

func (w watching) Observe(func(string)) agent.StreamObserver {
	return agent.StreamObserver{Partial: w}
}

// Listeners to partial events and the script's observer see the same, and the answer is read once for both.
func TestListenersAndOnlookersShareOneReading(t *testing.T) {
	mail := enginetest.Schema(t, "Mail", generable.Field{Name: "kind", Type: generable.StrT}, generable.Field{Name: "tags", Type: generable.ListOfType(generable.StrT)})
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
		r := enginetest.Says(answer)
		return engine.Outcome{Response: &r, Attempt: 2}
	})
	see := func(listen, look bool) (heard, looked []string, allocs float64) {
		c := enginetest.Compose()
		spec := &agent.Spec{Name: "a", In: generable.StrT, Out: mail, Prompt: "Sort."}
		count := 0
		if look {
			spec.Observer = watching(func(known generable.Value, p *generable.Partial) error {
				if count++; count%50 == 1 {
					looked = append(looked, fmt.Sprint(p.ArrivedFieldNames(), generable.JSON(known, nil)))
				}
				return nil
			})
		}
		main := c.Agent(c.Site("agent", "a"), spec)
		c.Sound(t)
		l := engine.Listener{}
		if listen {
			l = engine.Listener{Kinds: engine.EventPartial, Emit: func(ev engine.Event) {
				if ev.Data.(*event.Partial).Snapshot != nil {
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
		return heard, looked, testenv.LeastAllocs(3, run)
	}
	_, _, nothing := see(false, false)
	heard, _, listening := see(true, false)
	_, looked, looking := see(false, true)
	heardToo, lookedToo, both := see(true, true)
	if len(heard) < 500 || !slices.Equal(heard, heardToo) || len(looked) < 10 || !slices.Equal(looked, lookedToo) {
		t.Errorf("alone %d and %d were told, together %d and %d", len(heard), len(looked), len(heardToo), len(lookedToo))
	}
	t.Logf("allocations: %.0f without, %.0f listening, %.0f looking on, %.0f both", nothing, listening, looking, both)
	if reading := listening - nothing; !testenv.RaceDetector && both > looking+reading/2 {
		t.Errorf("%.0f allocations with both, %.0f and %.0f with one, %.0f with none: the answer is read twice", both, listening, looking, nothing)
	}
}

func spamType() *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: "Mail", Fields: []generable.Field{
		{Name: "kind", Type: generable.StrT}, {Name: "spam", Type: generable.BoolT},
		{Name: "why", Type: generable.StrT, Optional: true, Default: generable.StrOf("")},
	}}
}

func condition(t *testing.T, op predicate.Op, field string, v generable.Value) *predicate.Predicate {
	t.Helper()
	p, err := predicate.New(op, field, &v)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An answer ends when the condition holds for its complete fields, wherever the text is cut.
func TestEarlyStop(t *testing.T) {
	spam := condition(t, predicate.Eq, "spam", generable.BoolOf(true))
	kind := condition(t, predicate.Eq, "kind", generable.StrOf("do"))
	for _, row := range []struct {
		name, text, answer string
		enough             *predicate.Predicate
	}{
		{"met", `{"kind": "ad", "spam": true, "why": "because of all"}`, `{"kind":"ad","spam":true}`, spam},
		{"never met", `{"kind": "ad", "spam": false, "why": "because"}`, "", spam},
		{"a text that still grows is another", `{"kind": "done", "spam": false, "why": "b"}`, "", kind},
		{"a text that is whole", `{"kind": "do", "spam": false, "why": "b"}`, `{"kind":"do"}`, kind},
		{"behind prose and in a fence", "Sure:\n```json\n{\"kind\": \"ad\", \"spam\": true, \"why\": \"long\"}\n```", `{"kind":"ad","spam":true}`, spam},
	} {
		for size := 1; size < 9; size++ {
			w := (&model.Output{Type: spamType(), Enough: row.enough}).Watch()
			more := true
			read := 0
			for at := 0; at < len(row.text) && more; at += size {
				read = min(at+size, len(row.text))
				more = w.Feed(row.text[at:read])
			}
			if w.Met() != (row.answer != "") || more == w.Met() {
				t.Errorf("%s, by %d: met is %v, more %v", row.name, size, w.Met(), more)
				continue
			}
			if !w.Met() {
				continue
			}
			if got := w.Answer(); got != row.answer || read == len(row.text) {
				t.Errorf("%s, by %d: %s after %d of %d bytes", row.name, size, got, read, len(row.text))
			}
		}
	}
	var none *model.Output
	if none.Watch() != nil || (&model.Output{Type: spamType()}).Watch() != nil {
		t.Error("who wants all of it gets no watch")
	}
}

func verdictType(reason generable.Field) *generable.Type {
	t := func(name string, f generable.Field) *generable.Type {
		return &generable.Type{Kind: generable.RecordType, Name: name, Fields: []generable.Field{f}}
	}
	u, errs := generable.NewUnion("Verdict", "", "", []*generable.Type{t("Approved", generable.Field{Name: "score", Type: generable.IntT}), t("Rejected", reason)})
	if len(errs) > 0 {
		panic(errs)
	}
	return u
}

// An answer with a union type may end as soon as its variant is known.
func TestEarlyStopOfAUnion(t *testing.T) {
	typ := verdictType(generable.Field{Name: "reason", Type: generable.StrT, Optional: true, Default: generable.StrOf("")})
	rejected := condition(t, predicate.Eq, "type", generable.StrOf("Rejected"))
	for text, answer := range map[string]string{
		`{"type": "Rejected", "reason": "a long one"}`: `{"type":"Rejected"}`,
		`{"type": "Approved", "score": 3}`:             "",
	} {
		for size := 1; size < 9; size++ {
			w := (&model.Output{Type: typ, Enough: rejected}).Watch()
			read := 0
			for more := true; read < len(text) && more; {
				next := min(read+size, len(text))
				more = w.Feed(text[read:next])
				read = next
			}
			switch {
			case w.Met() != (answer != ""):
				t.Errorf("%s by %d: met is %v", text, size, w.Met())
			case w.Met() && (w.Answer() != answer || read == len(text)):
				t.Errorf("%s by %d: %s after %d bytes", text, size, w.Answer(), read)
			}
		}
	}
	for want, p := range map[string]*predicate.Predicate{
		"wait for the variant alone": condition(t, predicate.Eq, "reason", generable.StrOf("x")),
		"before score, which":        condition(t, predicate.Eq, "type", generable.StrOf("Approved")),
		"can never hold":             condition(t, predicate.Eq, "type", generable.StrOf("Maybe")),
		"":                           rejected,
	} {
		c := enginetest.Compose()
		c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", In: generable.StrT, Out: typ, Prompt: "p", Enough: p})
		found := ""
		for _, d := range c.Diagnostics() {
			found += d.Message + "\n"
		}
		if !strings.Contains(found, want) || want == "" && found != "" {
			t.Errorf("got %q, want %q", found, want)
		}
	}
}

// The condition for enough determines the answer, so it is part of the request's identity.
func TestEnoughIsOfTheRequest(t *testing.T) {
	spam := condition(t, predicate.Eq, "spam", generable.BoolOf(true))
	a := &model.Request{Output: &model.Output{Type: spamType()}}
	b := &model.Request{Output: &model.Output{Type: spamType(), Enough: spam}}
	if a.Digest() == b.Digest() {
		t.Error("the digests are the same")
	}
}

func TestEnoughIsChecked(t *testing.T) {
	for want, f := range map[string]func(a *agent.Spec){
		"has no fields to wait for": func(a *agent.Spec) { a.Out = generable.StrT },
		"can never hold":            func(a *agent.Spec) { a.Enough = condition(t, predicate.Ge, "spam", generable.IntOf(1)) },
		"before spam, which Mail requires": func(a *agent.Spec) {
			a.Enough = condition(t, predicate.Eq, "kind", generable.StrOf("x"))
		},
	} {
		c := enginetest.Compose()
		spec := &agent.Spec{Name: "a", In: generable.StrT, Out: spamType(), Prompt: "p", Enough: condition(t, predicate.Eq, "spam", generable.BoolOf(true))}
		f(spec)
		c.Agent(c.Site("agent", "a"), spec)
		found := ""
		for _, d := range c.Diagnostics() {
			found += d.Message + "\n"
		}
		if !strings.Contains(found, want) {
			t.Errorf("got %q, want %q", found, want)
		}
	}
}

// A listener receives the parts of a typed answer while it arrives, and again with each attempt.
func TestPartialEvents(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "mail"), &agent.Spec{Name: "mail", In: generable.StrT, Out: spamType(), Prompt: "p"})
	c.Sound(t)
	const text = `{"kind": "ad", "spam": true, "why": "日本"}` // pieces end inside characters
	h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if !e.Stream {
			t.Error("nothing is streamed")
		}
		sink(engine.Token{Attempt: 1, Text: `{"kind": "n`})
		for i := 0; i < len(text); i += 3 {
			sink(engine.Token{Attempt: 2, Text: text[i:min(i+3, len(text))]})
		}
		return engine.Outcome{Response: &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: text}}, Finish: model.FinishStop}, Attempt: 2}
	})
	var got []string
	_, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "m/m", Listener: engine.Listener{Kinds: engine.EventPartial, Emit: func(e engine.Event) {
		d := e.Data.(*event.Partial)
		line := fmt.Sprint(e.Attempt, " ", d.What, " ", d.Field)
		if d.Value != nil {
			line += " " + generable.JSON(*d.Value, nil)
		}
		if d.What == "field" {
			line += " of " + generable.JSON(d.Snapshot(), nil)
		}
		if e.Kind != engine.EventPartial || e.Path != "main/agent:mail#0/llm0" || e.ID == "" {
			t.Errorf("%+v", e)
		}
		got = append(got, line)
	}}})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{"1 text .kind", "2 reset ", `2 field .kind "ad" of {"kind":"ad"}`, `2 field .spam true of {"kind":"ad","spam":true}`, `2 field .why "日本"`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}
