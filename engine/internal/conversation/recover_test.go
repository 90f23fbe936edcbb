package conversation_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// A host composes fixers as a script does: a node has its one place in a recipe, takes the failure as a value or as
// text, and is a child of the agents whose tools it fixes.
func TestFixersOfAHost(t *testing.T) {
	c := enginetest.Compose()
	text := c.Step("text", generable.StrT, generable.StrT, func(v generable.Value) generable.Value {
		return generable.StrOf(fmt.Sprintf(`{"q": "mended %d"}`, strings.Count(enginetest.Str(v), "want str")))
	})
	data := c.Step("data", agent.ToolFailureType, generable.AnyT, func(v generable.Value) generable.Value {
		r, _ := v.AsRecord()
		kind, _ := r.Get("kind")
		attempt, _ := r.Get("attempt")
		return generable.StrOf(fmt.Sprintf("%s %d", enginetest.Str(kind), enginetest.Int(attempt)))
	})
	recipe := &agent.Recovery{
		BadArgs: []agent.Remedy{{Do: agent.RemedyFix, Fixer: c.Fix(c.Site("fix", ""), text)}},
		Failure: []agent.Remedy{{Do: agent.RemedyAgain}, {Do: agent.RemedyFix, Fixer: c.Fix(c.Site("fix", ""), data)}},
	}
	search := &agent.Tool{Name: "search", Params: enginetest.Schema(t, "search", generable.Field{Name: "q", Type: generable.StrT}), Class: engine.ClassRead, OnError: recipe,
		Run: engine.GoFunc("search", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			r, _ := args[0].AsRecord()
			q, _ := r.Get("q")
			if enginetest.Str(q) == "x" {
				return q, fmt.Errorf("nothing for %s", enginetest.Str(q))
			}
			return generable.StrOf("found " + enginetest.Str(q)), nil
		})}
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Search.", Tools: []*agent.Tool{search}})
	if kids := main.Children(); len(kids) != 2 || kids[0] != text || kids[1] != data || text.Free() {
		t.Errorf("the agent holds %v", kids)
	}
	c.Sound(t)
	a := &enginetest.Answers{Next: []model.Response{enginetest.Calls("search", `{"q": [1]}`, "search", `{"q": "x"}`), enginetest.Says("end")}}
	if _, err := enginetest.RunNode(t, main, a, "?"); err != nil {
		t.Fatal(err)
	}
	told := a.Seen[1].Messages[2].Parts
	if told[0].Result.Text != "found mended 1" || told[1].Result.Text != "failure 2" || told[0].Result.IsError || told[1].Result.IsError {
		t.Errorf("the model is told %q and %q", told[0].Result.Text, told[1].Result.Text)
	}
}

func TestFixRefuses(t *testing.T) {
	c := enginetest.Compose()
	number := c.Step("number", generable.IntT, generable.StrT, func(v generable.Value) generable.Value { return v })
	if n := c.Fix(c.Site("fix", ""), number); !n.Failed() || !number.Free() {
		t.Error("a fixer that takes an int is taken")
	}
	twice := c.Step("twice", generable.StrT, generable.StrT, func(v generable.Value) generable.Value { return v })
	c.Fix(c.Site("fix", ""), twice)
	if n := c.Fix(c.Site("fix", ""), twice); !n.Failed() {
		t.Error("a fixer has two places")
	}
	open := c.Pick(c.Site("pick", ""), "error", nil)
	if n := c.Fix(c.Site("fix", ""), open); n.Failed() || n.In() != agent.ToolFailureType {
		t.Errorf("pick takes %s of a failure", open.In())
	}
	if got := strings.Join(c.Codes(), " "); got != string(diag.CannotJoin)+" "+string(diag.AlreadyPlaced) {
		t.Errorf("reported %s", got)
	}
}

// A fixer that fails because a sibling has ended its branch is not why the run failed.
func TestFixerThatASiblingEnds(t *testing.T) {
	enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
		c := enginetest.Compose()
		var begun atomic.Bool
		fails := func(name string, in *generable.Type, wait func(b engine.Branch)) *flow.Node {
			return c.Fn(c.Site("fn", name), engine.GoFunc(name, 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
				wait(b)
				return generable.Value{}, errors.New(name + " failed")
			}), in, generable.StrT)
		}
		fixer := fails("fixer", agent.ToolFailureType, func(b engine.Branch) {
			begun.Store(true)
			b.Wake()
			_ = b.Wait(func() bool { return false }) // until it must stop
		})
		last := fails("last", generable.StrT, func(b engine.Branch) { _ = b.Wait(begun.Load) })
		recipe := &agent.Recovery{BadArgs: []agent.Remedy{{Do: agent.RemedyFix, Fixer: c.Fix(c.Site("fix", ""), fixer)}}}
		search := &agent.Tool{Name: "search", Params: enginetest.Schema(t, "search", generable.Field{Name: "q", Type: generable.StrT}), Class: engine.ClassRead, OnError: recipe,
			Run: engine.GoFunc("search", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.StrOf("found"), nil })}
		a := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Search.", Tools: []*agent.Tool{search}})
		main := c.Par(c.Site("par", ""), flow.ParOptions{Output: generable.AnyT}, a, last)
		c.Sound(t)
		answers := &enginetest.Answers{Next: []model.Response{enginetest.Calls("search", `{"q": [1]}`)}}
		if _, err := run.Exec(s, &run.Spec{Node: main, Input: generable.StrOf("?"), Handler: answers, Model: "test/model"}); err == nil || !strings.Contains(err.Error(), "last failed") {
			t.Error(err)
		}
	})
}

func TestParseSeverity(t *testing.T) {
	for text, want := range map[string]engine.Severity{"low": "LOW", " Medium\n": "MEDIUM", "HIGH": "HIGH", "critical": "CRITICAL", "": "HIGH", "urgent": "HIGH"} {
		if got, known := agent.ParseSeverity(text); got != want || known != (text != "urgent") {
			t.Errorf("%q: %s, %v", text, got, known)
		}
	}
}

// A fixer's value for a failure is the tool's result, never new arguments. With Args it is new arguments, and the call
// is executed again.
func TestFixOfAFailure(t *testing.T) {
	for _, tt := range []struct {
		name, gives string
		args, isErr bool
		told        string
	}{
		{"a result", "sunny", false, false, "sunny"},
		{"arguments for a result", `{"q": "Ulm"}`, false, true, "returned arguments of a call"},
		{"other JSON", `{"sky": "blue"}`, false, false, `{"sky": "blue"}`},
		{"arguments", `{"q": "Ulm"}`, true, false, "found Ulm"},
	} {
		c := enginetest.Compose()
		search := &agent.Tool{Name: "search", Params: enginetest.Schema(t, "search", generable.Field{Name: "q", Type: generable.StrT}), Class: engine.ClassRead, Returns: generable.StrT,
			OnError: &agent.Recovery{Failure: []agent.Remedy{{Do: agent.RemedyFixed, Value: generable.StrOf(tt.gives), Args: tt.args}}},
			Run: engine.GoFunc("search", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
				r, _ := args[0].AsRecord()
				if q, _ := r.Get("q"); enginetest.Str(q) != "x" {
					return generable.StrOf("found " + enginetest.Str(q)), nil
				}
				return generable.Value{}, fmt.Errorf("nothing for x")
			})}
		main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Search.", Tools: []*agent.Tool{search}})
		c.Sound(t)
		a := &enginetest.Answers{Next: []model.Response{enginetest.Calls("search", `{"q": "x"}`), enginetest.Says("end")}}
		if _, err := enginetest.RunNode(t, main, a, "?"); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if told := a.Seen[1].Messages[2].Parts[0].Result; told.IsError != tt.isErr || !strings.Contains(told.Text, tt.told) {
			t.Errorf("%s: the model is told %q", tt.name, told.Text)
		}
	}
}
