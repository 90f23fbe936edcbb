package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript/engine"
)

// hashed is a request that counts how often it is hashed.
type hashed struct{ n atomic.Int32 }

func (h *hashed) Digest() (d [32]byte) {
	h.n.Add(1)
	return d
}

// The id of an effect in flight is computed once, by whoever asks first; what nobody asks for is
// not computed at all. A copy of the effect keeps it, so that a handler may hand on a changed one.
func TestAnEffectsIDIsComputedOnce(t *testing.T) {
	req := &hashed{}
	e := (&engine.InFlight{Effect: engine.Effect{Kind: engine.EffectTool, Name: "a", Req: req}}).Begin()
	if req.n.Load() != 0 {
		t.Error("the id was computed though nobody asked for it")
	}
	var asked sync.WaitGroup
	for range 8 {
		asked.Go(func() { e.ID() })
	}
	asked.Wait()
	changed := *e
	changed.Name = "b"
	if id := changed.ID(); id != e.ID() || req.n.Load() != 1 {
		t.Errorf("the copy's id is %q, the original's %q; the request was hashed %d times", id, e.ID(), req.n.Load())
	}
	alone := engine.Effect{Kind: engine.EffectTool, Name: "a", Req: req}
	if alone.ID() != e.ID() {
		t.Errorf("an effect made of the same fields has the id %q, want %q", alone.ID(), e.ID())
	}
}
