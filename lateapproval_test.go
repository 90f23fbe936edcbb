package agentscript_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/store"
)

// A person who approves after the run was cancelled starts nothing any more, neither a tool of the script
// nor what stands behind approve(...); what was decided is recorded, so that a resumed run asks nobody.
func TestApprovedTooLate(t *testing.T) {
	for name, src := range map[string]string{
		"a tool of the script": "def pay():\n    \"\"\"Pays.\"\"\"\n    print(\"began\")\n    return \"paid\"\nmain = agent(prompt = \"A.\", tools = [pay])\n",
		"approve":              "def main(x = str):\n    approve(\"Pay?\")\n    print(\"began\")\n    return \"end\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
				part, finish := model.Part{Kind: model.PartText, Text: "end"}, model.FinishStop
				if len(e.Req.(*model.Request).Messages) == 1 {
					part, finish = model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "pay", Args: "{}"}}, model.FinishCalls
				}
				return engine.Outcome{Response: &model.Response{Finish: finish, Parts: []model.Part{part}}}
			})
			ask, err := policy.New("the host", policy.Rules{Ask: []string{"pay"}})
			if err != nil {
				t.Fatal(err)
			}
			if name == "approve" {
				ask = nil
			}
			var asked, began atomic.Int64
			waits := make(chan struct{}, 2)
			eng := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/x"), agentscript.WithPolicy(ask),
				agentscript.WithApproval(func(ctx context.Context, _ *engine.ApprovalRequest) (engine.Decision, error) {
					asked.Add(1)
					waits <- struct{}{}
					<-ctx.Done()
					return engine.Approve(), nil
				}))
			mod, err := eng.Load(t.Context(), script(src), "flow.star")
			if err != nil {
				t.Fatal(err)
			}
			in := agentscript.InputText("x")
			if name == "approve" {
				in = agentscript.Args(map[string]any{"x": "x"})
			}
			record := &store.Memory{}
			opts := []agentscript.RunOption{in, agentscript.ID("run"), agentscript.RunJournal(record), agentscript.OnEvent(engine.EventLog, func(e engine.Event) {
				if strings.Contains(e.Text(), "began") {
					began.Add(1)
				}
			})}
			run := mod.Start(t.Context(), opts...)
			<-waits
			run.Cancel()
			if _, err := run.Wait(); !errors.Is(err, engine.ErrCancelled) || began.Load() != 0 {
				t.Fatalf("%v, began %d times", err, began.Load())
			}
			if r, err := mod.Start(t.Context(), opts...).Wait(); err != nil || r.Text() != "end" || began.Load() != 1 || asked.Load() != 1 {
				t.Errorf("resumed: %q, %v; began %d times, asked %d times", r.Text(), err, began.Load(), asked.Load())
			}
		})
	}
}
