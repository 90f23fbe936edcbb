package grant

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/generable"
)

// TestFilePanic: a panic in a file operation, which runs in a separate goroutine, is the error of its effect and does
// not end the process.
func TestFilePanic(t *testing.T) {
	g := &Grants{base: "/", cap: DefaultOutputCap, mounts: []*mount{{as: "/desk", write: true}}} // its directory was never opened
	for _, op := range []string{"read", "write", "list", "stat", "exists", "remove"} {
		args := generable.NewMap(1)
		args.Set("path", generable.StrOf("/desk/a"))
		out := g.Do(t.Context(), &engine.Effect{Kind: engine.EffectFS, Name: op, Req: &capability.Request{Op: op, Args: args}}, nil)
		if out.Err == nil || out.Err.Kind != engine.KindPanic || out.Err.Code != diag.Panic || !strings.Contains(out.Err.Message, "fs."+op+" panicked") {
			t.Errorf("%s: %v", op, out.Err)
		}
	}
}
