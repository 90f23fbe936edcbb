package llm_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
)

// held is a host's model that answers when released.
type held struct {
	foreign
	release chan struct{}
}

func (h *held) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	<-h.release
	return choices(&llms.ContentChoice{Content: "ok"}), nil
}

// Registries that share a limiter share the account: a call through one waits while a call through the other is in
// flight, and the limits are those of the registry that called first.
func TestSharedLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &held{release: make(chan struct{})}
		var shared llm.Limiter
		tenant := func(inFlight int) *llm.Registry {
			return llm.New(env(), llm.WithLimiter(&shared), llm.WithModel("acme/held", m, llm.Caps{}), llm.WithLimits("acme", llm.Limits{InFlight: inFlight}))
		}
		first, second := tenant(1), tenant(5)
		done := make(chan engine.Outcome, 2)
		go func() { done <- ask(first, "acme/held", prompt("x")) }()
		synctest.Wait()
		go func() { done <- ask(second, "acme/held", prompt("x")) }()
		synctest.Wait()
		want := llm.Load{Provider: "acme", InFlight: 1, Waiting: 1, Allowed: 1}
		if load := shared.Load(); len(load) != 1 || load[0] != want {
			t.Errorf("%+v, want %+v", load, want)
		}
		if first.Limiter() != &shared || second.Limiter() != &shared {
			t.Error("a registry has a limiter beside the one that it shares")
		}
		close(m.release)
		need(t, <-done)
		need(t, <-done)
		synctest.Wait()
		if load := shared.Load(); load[0].InFlight != 0 || load[0].Waiting != 0 {
			t.Errorf("after the calls: %+v", load)
		}
	})
}
