package watch_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/watch"
)

// counted counts the effects that reach a handler.
type counted struct {
	engine.Handler
	calls int
}

func (c *counted) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	c.calls++
	return c.Handler.Do(ctx, e, sink)
}

// An edit costs what it changed: models are called for what is new, a failure is retried, and what must not run twice
// runs again if a person agrees.
func TestMemory(t *testing.T) {
	const flow = `
def main(word = str):
    first = writer(word)
    return [first, sh.run(["send", COMMAND]).stdout]

writer = agent(prompt = PROMPT)
`
	agree, asked := false, ""
	asks := engine.Approvals(func(_ context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
		asked = r.Question
		return engine.Decision{Approved: agree}, nil
	})
	models := &counted{Handler: scripted.Answers(map[string][]string{"writer": {"one", "two", "three", "four"}})}
	sent := &counted{Handler: engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Value: generable.NewRecord(capability.CompletedType, []generable.Value{generable.IntOf(0), generable.StrOf("sent"), generable.StrOf(""), generable.BoolOf(false)}).Value()}
	})}
	run := func(m *watch.Memory, prompt, command string) (string, error) {
		t.Helper()
		text := strings.NewReplacer("PROMPT", `"`+prompt+`"`, "COMMAND", `"`+command+`"`).Replace(flow)
		eng := agentscript.New(agentscript.WithModels(models), agentscript.WithHandler(engine.EffectExec, sent), agentscript.WithUngranted(), agentscript.WithMiddleware(m.Around))
		mod, err := eng.Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(text)}}, "flow.star")
		if err != nil {
			t.Fatal(err)
		}
		res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"word": "x"}), agentscript.RunJournal(m.Journal())).Wait()
		m.Edited()
		return res.JSON(), err
	}
	m := watch.NewMemory(false, asks)
	for _, row := range []struct {
		prompt, command string
		agree           bool
		models, sent    int
		fails, asks     bool
	}{
		{"A.", "a", false, 1, 1, false, false}, // the first run asks nobody
		{"A.", "a", false, 1, 1, false, false}, // nothing has changed
		{"B.", "a", false, 2, 1, false, false}, // the model is called again, and nothing is sent
		{"B.", "b", false, 2, 1, true, true},   // another command: a person says no
		{"B.", "b", true, 2, 2, false, true},   // and then yes
		{"B.", "b", false, 2, 2, false, false},
		{"A.", "a", false, 2, 2, false, false}, // back to the original
	} {
		agree, asked = row.agree, ""
		got, err := run(m, row.prompt, row.command)
		if models.calls != row.models || sent.calls != row.sent || (err != nil) != row.fails || (asked != "") != row.asks {
			t.Errorf("%+v: %s %v, %d calls of models, %d commands, asked %q", row, got, err, models.calls, sent.calls, asked)
		}
	}
	nobody := watch.NewMemory(false, engine.Handlers(nil))
	if _, err := run(nobody, "A.", "a"); err != nil {
		t.Error(err)
	}
	if _, err := run(nobody, "A.", "c"); err == nil || !strings.Contains(err.Error(), "must not run twice") || sent.calls != 3 {
		t.Errorf("with nobody there: %v, %d commands", err, sent.calls)
	}
	before := models.calls
	prepared := watch.NewMemory(true, asks)
	for range 2 {
		if _, err := run(prepared, "P.", "a"); err != nil && !strings.Contains(err.Error(), "answer") {
			t.Error(err)
		}
	}
	if models.calls != before+2 {
		t.Errorf("prepared answers were remembered: %d calls", models.calls-before)
	}
}
