package watch

import (
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
)

// The runs of a session draw the same numbers and ids, so that prompts made from them are answered from earlier runs;
// those of another session draw others. If answers are prepared, every run draws the same.
func TestRunsDrawTheSame(t *testing.T) {
	mod, err := agentscript.New().Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte("def main():\n    return uuid()\n")}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	drawn := func(s *Session, more ...agentscript.RunOption) string {
		t.Helper()
		res, err := mod.Start(t.Context(), append(s.Start(), more...)...).Wait()
		if err != nil {
			t.Fatal(err)
		}
		return res.Text()
	}
	session := func(prepared bool) *Session {
		return &Session{memory: NewMemory(prepared, engine.Handlers(nil))}
	}
	one, other := session(false), session(false)
	if a, b := drawn(one), drawn(one); a != b || a == drawn(other) {
		t.Errorf("a session draws %s and %s, another one %s", a, b, drawn(other))
	}
	if a, b := drawn(session(true), agentscript.VirtualTime()), drawn(session(true), agentscript.VirtualTime()); a != b {
		t.Errorf("prepared runs draw %s and %s", a, b)
	}
	if a, b := drawn(one, agentscript.Seed(5)), drawn(other, agentscript.Seed(5)); a != b {
		t.Errorf("with a seed that is given runs draw %s and %s", a, b)
	}
}
