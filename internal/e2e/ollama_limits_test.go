//go:build e2e

package e2e

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// TestOllamaCutOff checks that an answer cut off by the token limit says so, with its partial text, even in the middle
// of JSON.
func TestOllamaCutOff(t *testing.T) {
	base := randomModel(t)
	list := declared(t)(generable.Limited(generable.ListOfType(generable.StrT), generable.Limits{MinLen: some(50)}))
	bothWays(t, "random", func(t *testing.T, m string, stream bool) {
		req := seeded(3)
		req.Params.MaxTokens = some(40)
		req.Output = &model.Output{Type: list, Structured: model.StructuredConstrained}
		out, s := ask(t, local(t, base), m, req, stream)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		text := out.Response.Text()
		if out.Response.Finish != model.FinishLength || out.Response.Usage.Out > 41 || !strings.Contains(text, `["`) && !strings.Contains(text, "[") {
			t.Errorf("%q, %s, %+v", text, out.Response.Finish, out.Response.Usage)
		}
		if stream && s.text != text {
			t.Errorf("streamed %q of %q", s.text, text)
		}
		if got := decoded(t, list, out.Response); got.OK {
			t.Errorf("%q passes for a list of 50", text)
		}
	})
}

// TestOllamaWindow checks that a prompt that does not fit is an error and not cut silently, which is the server's
// default.
func TestOllamaWindow(t *testing.T) {
	base := randomModel(t)
	for _, stream := range []bool{false, true} {
		for _, req := range []*model.Request{
			prompt(strings.Repeat("too long ", window)),
			prompt("first").Extend(
				model.TextMessage(model.RoleAssistant, strings.Repeat("an old answer ", window)), model.TextMessage(model.RoleUser, "and now?")),
		} {
			out, _ := ask(t, local(t, base), "ollama/random", req, stream)
			if out.Err == nil || out.Err.Kind != engine.KindContextLength || !strings.Contains(out.Err.Help, "OLLAMA_CONTEXT_LENGTH") || out.Attempt > 1 {
				t.Errorf("%v, attempt %d", out.Err, out.Attempt)
			}
		}
	}
}

// TestOllamaWindowFilled checks that an answer that fills the rest of the window ends there, and says so; the server's
// default is to forget the beginning.
func TestOllamaWindowFilled(t *testing.T) {
	base := randomModel(t)
	list := declared(t)(generable.Limited(generable.ListOfType(generable.StrT), generable.Limits{MinLen: some(1000)}))
	for _, stream := range []bool{false, true} {
		req := seeded(3)
		req.Params.MaxTokens = nil
		req.Output = &model.Output{Type: list}
		out, _ := ask(t, local(t, base), "ollama/random", req, stream)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		if u := out.Response.Usage; out.Response.Finish != model.FinishLength || u.In+u.Out < window-2 || u.In+u.Out > window+2 {
			t.Errorf("%s, %+v", out.Response.Finish, u)
		}
	}
}

// TestOllamaUnknownModel checks that the error names the model and how to get it.
func TestOllamaUnknownModel(t *testing.T) {
	base := serveOllama(t)
	bothWays(t, "nobody/has:it", func(t *testing.T, model string, stream bool) {
		out, _ := ask(t, local(t, base), model, prompt("hello"), stream)
		if out.Err == nil || out.Err.Kind != engine.KindNotFound || out.Attempt > 1 || !strings.Contains(out.Err.Error(), "nobody/has:it") {
			t.Fatalf("%v, attempt %d", out.Err, out.Attempt)
		}
		if strings.HasPrefix(model, "ollama/") && !strings.Contains(out.Err.Help, "ollama pull nobody/has:it") {
			t.Errorf("help %q", out.Err.Help)
		}
	})
}

// TestOllamaOverload checks that of more calls than the server queues, each ends in an answer or in an error that says
// the server is overloaded, and that with more attempts all end in an answer.
func TestOllamaOverload(t *testing.T) {
	base := randomModel(t, "OLLAMA_NUM_PARALLEL=1", "OLLAMA_MAX_QUEUE=2")
	const clients = 12
	list := declared(t)(generable.Limited(generable.ListOfType(generable.IntT), generable.Limits{MinLen: some(30), MaxLen: some(60)}))
	for _, row := range []struct {
		name  string
		retry llm.RetryPolicy
		all   bool
	}{
		{"once", llm.RetryPolicy{Attempts: 1}, false},
		{"again", llm.RetryPolicy{Attempts: 100, Total: 100, First: 50 * time.Millisecond, Most: time.Second}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := local(t, base, llm.WithRetry(row.retry), llm.WithLimits("", llm.Limits{InFlight: -1}))
			var wg sync.WaitGroup
			var mu sync.Mutex
			answers, busy, attempts := 0, 0, 0
			for i := range clients {
				wg.Go(func() {
					req := seeded(i)
					req.Output = &model.Output{Type: list, Structured: model.StructuredConstrained}
					out, _ := ask(t, r, endpoints[i%2]+"/random", req, i%3 == 0)
					mu.Lock()
					defer mu.Unlock()
					attempts += max(out.Attempt, 1)
					switch {
					case out.Err == nil && decoded(t, list, out.Response).OK:
						answers++
					case out.Err == nil:
						t.Errorf("%q, %s", out.Response.Text(), out.Response.Finish)
					case out.Err.Kind == engine.KindOverloaded && out.Err.Model != nil && out.Err.Model.Status == 503:
						busy++
					default:
						t.Errorf("%v", out.Err)
					}
				})
			}
			wg.Wait()
			t.Logf("ANSWERS under overload, %s: %d, refusals %d, attempts %d", row.name, answers, busy, attempts)
			if answers == 0 || row.all && answers != clients {
				t.Errorf("%d answers, %d refusals", answers, busy)
			}
		})
	}
}

// TestOllamaHeldBack checks that the port's own limit holds back calls that a server would refuse.
func TestOllamaHeldBack(t *testing.T) {
	base := randomModel(t, "OLLAMA_NUM_PARALLEL=1", "OLLAMA_MAX_QUEUE=2")
	r := local(t, base, append(quick(), llm.WithLimits("", llm.Limits{}))...)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			req := seeded(i)
			req.Output = &model.Output{Type: generable.IntT, Structured: model.StructuredConstrained}
			if out, _ := ask(t, r, "ollama/random", req, i%3 == 0); out.Err != nil {
				t.Error(out.Err)
			}
		})
	}
	wg.Wait()
}
