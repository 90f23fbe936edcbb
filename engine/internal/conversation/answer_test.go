package conversation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// The engine reads an answer in the form of a provider's schema, broken or not, and everything that it undoes or
// repairs is an event. A complaint is about the type.
func TestAnswersInAnotherForm(t *testing.T) {
	scores := generable.DictOfType(generable.IntT)
	inForm := func(text string) model.Response {
		r := enginetest.Says(text)
		r.Dialect = "openai"
		return r
	}
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "rate"), &agent.Spec{Name: "rate", Out: scores, Prompt: "Rate.", Repairs: 1})
	c.Sound(t)
	a := &enginetest.Answers{Next: []model.Response{inForm(`{"value": [{"key": "a b", "value": "x"}]}`), inForm("```json\n{\"value\": [{\"key\": \"a b\", \"value\": 1,}]\n```")}}
	var told []string
	out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("?"), Handler: a, Model: "test/model",
		Listener: engine.Listener{Kinds: engine.EventRepair, Emit: func(e engine.Event) { told = append(told, e.Name()+": "+e.Text()) }}})
	if err != nil || generable.JSON(out, nil) != `{"a b":1}` {
		t.Fatalf("got %s, %v", generable.JSON(out, nil), err)
	}
	again := a.Seen[1].Messages[2].Parts[0].Text
	if !strings.Contains(again, `["a b"]: expected int, got "x"`) || strings.Contains(again, "value") && strings.Contains(again, "[0]") {
		t.Errorf("asked again with\n%s", again)
	}
	events := strings.Join(told, "\n")
	for _, want := range []string{"wrapped: ", "dict-as-pairs: ", "trailing-comma: ", "fence: "} {
		if !strings.Contains(events, want) {
			t.Errorf("no event %s among\n%s", want, events)
		}
	}
}

func TestArgumentsInAnotherForm(t *testing.T) {
	var got string
	params := enginetest.Schema(t, "note", generable.Field{Name: "tags", Type: generable.DictOfType(generable.StrT)}, generable.Field{Name: "n", Type: generable.IntT, Optional: true, Default: generable.IntOf(7)})
	tool := &agent.Tool{Name: "note", Params: params, Returns: generable.StrT, Class: engine.ClassRead, Run: engine.GoFunc("note", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		got = generable.JSON(args[0], nil)
		return generable.StrOf("noted"), nil
	})}
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Note.", Tools: []*agent.Tool{tool}})
	c.Sound(t)
	call := enginetest.Calls("note", `{"tags": [{"key": "k", "value": "v"}], "n": null}`)
	call.Parts[0].Call.Dialect = "openai"
	if _, err := enginetest.RunNode(t, main, &enginetest.Answers{Next: []model.Response{call, enginetest.Says("done")}}, "?"); err != nil || got != `{"tags":{"k":"v"},"n":7}` {
		t.Errorf("called with %s, %v", got, err)
	}
}

// An unknown dialect is a separate error: asking again would not help.
func TestUnknownDialect(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Out: generable.IntT, Prompt: "Count.", Repairs: 3})
	c.Sound(t)
	r := enginetest.Says(`{"value": 1}`)
	r.Dialect = "klingon"
	a := &enginetest.Answers{Next: []model.Response{r}}
	_, err := enginetest.RunNode(t, main, a, "?")
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindBadResponse || e.Code != diag.ProviderError || !strings.Contains(e.Message, "klingon") || len(a.Seen) != 1 {
		t.Errorf("got %v after %d requests", err, len(a.Seen))
	}
}
