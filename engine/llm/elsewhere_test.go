package llm_test

import (
	"reflect"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/wire"
)

// TestRequestBytesElsewhere checks that a process that received the effect sends a provider the same bytes.
func TestRequestBytesElsewhere(t *testing.T) {
	for provider, model := range wireModels {
		for name, req := range scenarios() {
			sent := func(e *engine.Effect) []llmtest.Request {
				s := server(t, llmtest.Reply{Text: "yes"})
				port(t, s).Do(t.Context(), e, nil)
				requests := s.Requests()
				for i := range requests {
					requests[i].Header.Del("Idempotency-Key") // checked below
				}
				return requests
			}
			here := effect(model, req)
			data, err := wire.Encode(here)
			if err != nil {
				t.Fatalf("%s, %s: %v", provider, name, err)
			}
			there, err := wire.Decode(data)
			if err != nil {
				t.Fatalf("%s, %s: %v", provider, name, err)
			}
			if there.ID() != here.ID() { // the key is derived from it
				t.Errorf("%s, %s: its id is %s", provider, name, there.ID())
			}
			if want, got := sent(here), sent(there); len(want) != len(got) || !reflect.DeepEqual(want, got) {
				t.Errorf("%s, %s: the provider is sent\n%+v\nhere\n%+v", provider, name, got, want)
			}
		}
	}
}
