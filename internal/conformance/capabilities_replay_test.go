package conformance

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/generable"
)

// Promise 23.9 (capabilities): in addition to model calls, a record contains everything that a run does outside of
// itself: commands, requests, files, variables, tool calls and people's decisions, including failures. A replay is
// answered from the record on any scheduler, by request and position, and accesses nothing. A request that was not
// recorded ends the run, whatever catches errors, and the error shows the nearest recorded one.
func TestPromise_23_9_RecordedWorld(t *testing.T) {
	_, g := grants(t, grant.FS(".", grant.ReadWrite), grant.Env("LANG"), grant.LookupEnv(func(name string) (string, bool) { return "C", name == "LANG" }))
	src := `
def one(n):
    fs.write("n.txt", str(n))
    return fs.read("n.txt")

def look(path = str):
    """Reads a file."""
    return fs.read(path)

clerk = agent(prompt = "Work.", tools = [look, counts])

def main(path = str):
    out = [one(n) for n in [1, 2, 3]]
    same = parallel(lambda n: attempt(fs.read, path if n else "none").ok, range(6))
    person = approve("Go on?", out)
    return [out, same, env.get("LANG"), person.reason, clerk(path)]
`
	calls := 0
	counts := agent.HostTool{Tool: agent.Tool{Name: "counts", Doc: "Counts."}, Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
		calls++
		return generable.IntOf(int64(calls)), nil
	}}
	text, asked := "done", 0
	models := scripted.New([]scripted.Row{{Calls: []scripted.Call{{Name: "look", Args: []byte(`{"path": "n.txt"}`)}, {Name: "counts", Args: []byte(`{}`)}, {Name: "look", Args: []byte(`{"path": "none"}`)}}}, {Text: &text}})
	people := engine.Approvals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
		asked++
		return engine.Decision{Approved: true, Reason: "as you like"}, nil
	})
	kinds := []engine.EffectKind{engine.EffectExec, engine.EffectHTTP, engine.EffectFS, engine.EffectEnv, engine.EffectApproval, engine.EffectTool, engine.EffectModel}
	eng := agentscript.New(agentscript.WithUngranted(), agentscript.WithTool(counts))
	var b bytes.Buffer
	rec := cassette.Record(&b, models, nil)
	var opts []agentscript.RunOption
	for _, kind := range kinds {
		h := rec.Around(g)
		switch kind {
		case engine.EffectModel:
			h = rec
		case engine.EffectApproval:
			h = rec.Around(people)
		case engine.EffectTool:
			h = rec.Around(agent.HostTools{"counts": &counts})
		}
		opts = append(opts, agentscript.HandlerFor(kind, h))
	}
	want, err := loaded(t, eng, src).Start(t.Context(), append(opts, agentscript.Args(map[string]any{"path": "n.txt"}))...).Wait()
	if err != nil || want.JSON() != `[["1","2","3"],[false,true,true,true,true,true],"C","as you like","done"]` {
		t.Fatalf("%s, %v", want.JSON(), err)
	}
	replay := func(path string, opts ...agentscript.RunOption) (string, error) {
		r, err := cassette.Replay(bytes.NewReader(b.Bytes()), "run.rec", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			opts = append(opts, agentscript.HandlerFor(kind, r))
		}
		got, err := loaded(t, eng, src).Start(t.Context(), append(opts, agentscript.Args(map[string]any{"path": path}))...).Wait()
		if left := r.Unused(); err == nil && len(left) > 0 {
			t.Errorf("lines %v are not asked for", left)
		}
		return got.JSON(), err
	}
	if err := g.Close(); err != nil { // nothing can be read any more
		t.Fatal(err)
	}
	if got, err := replay("n.txt"); err != nil || got != want.JSON() {
		t.Errorf("%s, %v", got, err)
	}
	for seed := range uint64(20) {
		if got, err := replay("n.txt", agentscript.Cooperative(seed)); err != nil || got != want.JSON() {
			t.Errorf("seed %d: %s, %v", seed, got, err)
		}
	}
	if calls != 1 || asked != 1 {
		t.Errorf("a replay calls the tool (%d) or asks a person (%d)", calls, asked)
	}
	_, err = replay("m.txt")
	e, ok := err.(*engine.Error)
	if !ok || e.Kind != engine.KindReplay || e.Code != diag.ReplayMismatch || !strings.Contains(e.Message, "run.rec does not hold this fs.read") ||
		!strings.Contains(strings.Join(e.Notes, "\n"), `it differs in the argument "path"`) {
		t.Errorf("%v %+v", err, e)
	}
}
