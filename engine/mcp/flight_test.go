package mcp

import (
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// A call that has ended receives nothing more, even if the server still reports on it.
func TestEndedFlights(t *testing.T) {
	var all flights
	var heard []string
	f := all.begin(&engine.Effect{Kind: engine.EffectTool, Name: "s.t", At: &engine.Frame{}, Req: &engine.ToolRequest{Tool: "t"}}, func(tok engine.Token) { heard = append(heard, tok.Notice) })
	f.tell("half")
	f.spend(model.Usage{In: 2})
	all.end(f)
	f.tell("all")
	if len(heard) != 1 || heard[0] != "half" || all.of(f.token) != nil || all.oldest() != nil || f.used().In != 2 {
		t.Errorf("heard %q, used %+v", heard, f.used())
	}
}
