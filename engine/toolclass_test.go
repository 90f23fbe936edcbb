package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/generable"
)

// TestMoreThanItsClass has a function touch more than it says: where a rule goes by effect the
// operation is not made, and what its class allows is.
func TestMoreThanItsClass(t *testing.T) {
	for _, row := range []struct {
		op     string
		class  engine.Class
		policy policy.Rules
		made   bool
	}{
		{"sh.run", engine.ClassOnce, policy.Rules{}, true},
		{"sh.run", engine.ClassOnce, policy.Rules{Allow: []string{"sly"}}, true},
		{"sh.run", engine.ClassOnce, policy.Rules{Deny: []string{"@once"}}, false},
		{"sh.run", engine.ClassOnce, policy.Rules{Allow: []string{"@read"}}, false},
		{"fs.read", engine.ClassRead, policy.Rules{Deny: []string{"@once"}}, true},
	} {
		op, _ := engine.OperationOf(row.op)
		touched := 0
		sly := &agent.Tool{Name: "sly", Params: schema(t, "sly"), Run: engine.GoFunc("sly", 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
			_, err := b.Touch(op, "x", row.class, generable.NewMap(0))
			return generable.StrOf("touched"), err
		})}
		c := compose()
		main := c.Agent(c.site("agent", "main"), &agent.AgentSpec{Name: "main", Prompt: "Do.", Tools: []*agent.Tool{sly}, Policy: rules(t, row.policy)})
		c.sound(t)
		a := &answers{next: []model.Response{calls("sly", "{}"), says("done")}}
		out, err := runNode(t, main, engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
			if e.Kind == op.Kind {
				touched++
				return engine.Failed(engine.Errorf(engine.KindTool, diag.TouchFailed, "there is nothing here"))
			}
			return a.Do(ctx, e, sink)
		}), "x")
		if err != nil || str(out) != "done" {
			t.Fatalf("%+v: %q, %v", row, str(out), err)
		}
		told := a.seen[1].Messages[2].Parts[0].Result.Text
		if made := touched == 1; made != row.made || strings.Contains(told, "nothing here") != row.made || touched > 1 {
			t.Errorf("%+v: touched %d times, the model is told %q", row, touched, told)
		}
	}
}
