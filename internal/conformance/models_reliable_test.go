package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// limited returns a refusal that says when to come back.
func limited(ms string) llmtest.Reply {
	r := providerError(429, "rate_limit_exceeded", "slow down")
	r.Header = map[string]string{"Retry-After-Ms": ms}
	return r
}

// reliable runs a script with a provider and returns the reported retries.
func reliable(t *testing.T, src string, s *llmtest.Server, opts ...llm.Option) (agentscript.Result, []engine.Event, error) {
	t.Helper()
	again := llm.WithRetry(llm.RetryPolicy{First: time.Millisecond, Most: time.Millisecond})
	models := connected(t, s, append([]llm.Option{again}, opts...)...)
	mod := loaded(t, agentscript.New(agentscript.WithModels(models)), src)
	var retries []engine.Event
	res, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventRetry, func(e engine.Event) { retries = append(retries, e) })).Wait()
	return res, retries, err
}

// Promise 6.20 (models): a call that failed for a transient reason is retried, with up to four attempts in all, after
// the wait that the provider asks for; each attempt is reported, and named by the error if all attempts fail.
func TestPromise_6_20_Retries(t *testing.T) {
	src := `main = agent(model = "openai/a", prompt = "Judge.")`
	begun := time.Now()
	res, retries, err := reliable(t, src, serving(t, limited("30"), llmtest.Reply{Fault: llmtest.Reset}, providerError(503, "", "busy"), llmtest.Reply{Text: "ok"}))
	if err != nil || res.Text() != "ok" || len(retries) != 3 || time.Since(begun) < 30*time.Millisecond {
		t.Fatalf("%v %v after %s, %d retries", res, err, time.Since(begun), len(retries))
	}
	for i, e := range retries {
		if e.Attempt != i+1 || e.Data.(*event.Retry).From != "openai/a" || e.Name() != "openai/a" || e.Err() == nil || e.Path != "main/agent:main#0/llm0" || e.ID == "" {
			t.Errorf("%+v", e)
		}
	}
	down := providerError(503, "", "busy")
	down.Repeat = true
	s := serving(t, down)
	_, _, err = reliable(t, src, s)
	e := err.(*engine.Error)
	if len(s.Requests()) != 4 || e.Attempt != 4 || !strings.Contains(e.Message, "openai/a (attempt 4)") || len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "attempts 1 to 3") {
		t.Errorf("%d requests, %v, %q", len(s.Requests()), e, e.Notes)
	}
	for name, final := range map[string]llmtest.Reply{"a bad key": providerError(401, "invalid_api_key", "no"), "a bad request": providerError(400, "", "no"), "a refusal": {Refusal: "no"}} {
		final.Repeat = true
		s := serving(t, final)
		if _, _, err := reliable(t, src, s); err == nil || len(s.Requests()) != 1 {
			t.Errorf("%s: %v after %d requests", name, err, len(s.Requests()))
		}
	}
}

// Promise 6.21 (models): `model = ["a/x", "b/y"]` asks the next model when one cannot answer; if all fail, the error
// names the failure of each.
func TestPromise_6_21_Fallback(t *testing.T) {
	src := `main = agent(model = ["openai/a", "mistral/b", "ollama/c"], prompt = "Judge.")`
	unknown := providerError(404, "model_not_found", "never heard of it")
	s := serving(t, unknown, providerError(402, "", "no credit"), llmtest.Reply{Text: "ok"})
	res, retries, err := reliable(t, src, s)
	if err != nil || res.Text() != "ok" || len(retries) != 2 || retries[0].Name() != "mistral/b" || retries[1].Name() != "ollama/c" {
		t.Errorf("%v %v, %+v", res, err, retries)
	}
	_, _, err = reliable(t, src, serving(t, unknown, providerError(402, "", "no credit"), unknown))
	e := err.(*engine.Error)
	if all := e.Message + strings.Join(e.Notes, ""); !strings.Contains(all, "openai/a") || !strings.Contains(all, "mistral/b") || !strings.Contains(all, "ollama/c") || !strings.Contains(all, "no credit") {
		t.Errorf("%v, %q", e, e.Notes)
	}
}

// Promise 6.22 (models): however many branches and runs make calls, no more calls of one provider and key are in
// flight than allowed, eight by default.
func TestPromise_6_22_InFlight(t *testing.T) {
	for allowed, opts := range map[int][]llm.Option{8: nil, 3: {llm.WithLimits("openai", llm.Limits{InFlight: 3})}} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			busy := map[string]int{}
			count := func(r *http.Request, by int) {
				mu.Lock()
				defer mu.Unlock()
				busy[r.Header.Get("Authorization")] += by
			}
			answer := make(chan struct{}) // lets one call be answered
			provider := transport(func(r *http.Request) (*http.Response, error) {
				count(r, 1)
				defer count(r, -1)
				_, _ = io.Copy(io.Discard, r.Body) // it is not used
				r.Body.Close()
				<-answer
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
					Body: io.NopCloser(strings.NewReader(`{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`))}, nil
			})
			models := llm.New(append(opts, llm.WithTransport(provider),
				variables("OPENAI_API_KEY", "k-of-a-test", "OPENAI_BASE_URL", "https://a.test/v1", "MISTRAL_API_KEY", "m-of-a-test", "MISTRAL_BASE_URL", "https://b.test/v1"))...)
			defer models.Close()
			mod := loaded(t, agentscript.New(agentscript.WithModels(models)), `
a = agent(model = "openai/a", prompt = "Judge.")
b = agent(model = "mistral/b", prompt = "Judge.")

def main(n = int):
    return len(parallel([(node, str(i)) for i in range(n // 2) for node in [a, b]], limit = n))
`)
			const branches = 50
			var runs []*agentscript.Run
			for range 4 {
				runs = append(runs, mod.Start(t.Context(), agentscript.Args(map[string]any{"n": branches})))
			}
			for answered := range len(runs) * branches {
				synctest.Wait() // everything that can continue has continued: what is not in flight waits for what is
				mu.Lock()
				k, m := busy["Bearer k-of-a-test"], busy["Bearer m-of-a-test"]
				mu.Unlock()
				if k > allowed || m > 8 || answered == 0 && (k < allowed || m < 8) {
					t.Errorf("%d and %d calls are in flight, %d and 8 are allowed", k, m, allowed)
				}
				answer <- struct{}{}
			}
			for _, r := range runs {
				if res, err := r.Wait(); err != nil || res.Text() != fmt.Sprint(branches) {
					t.Errorf("%v %v", res, err)
				}
			}
		})
	}
}

// transport is a function that answers requests in place of a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Promise 6.23 (models): the answers of models are recorded and replayed without any model; requests are matched by
// their content, so branches may run in any order, and an error about a call that was not recorded says how it
// differs.
func TestPromise_6_23_RecordAndReplay(t *testing.T) {
	src := `
critic = [agent(name = "c" + str(i), model = "openai/a", prompt = "Judge %d." % i) for i in range(6)]
main = par(*critic)
`
	var replies []llmtest.Reply
	for i := range 6 {
		replies = append(replies, llmtest.Reply{Text: fmt.Sprintf("answer %d", i)})
	}
	var record bytes.Buffer
	run := func(h engine.Handler, in string, opts ...agentscript.RunOption) (agentscript.Result, error) {
		mod := loaded(t, agentscript.New(agentscript.WithModels(h)), src)
		return mod.Start(context.Background(), append(opts, input(in))...).Wait()
	}
	models := connected(t, serving(t, replies...))
	want, err := run(cassette.Record(&record, models, models.Redact), "x")
	if err != nil {
		t.Fatal(err)
	}
	replay := func() *cassette.Replayer {
		r, err := cassette.Replay(bytes.NewReader(record.Bytes()), "calls.jsonl", models.Redact)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for seed := range uint64(10) {
		if got, err := run(replay(), "x", agentscript.Cooperative(seed)); err != nil || got.Text() != want.Text() {
			t.Errorf("seed %d: %v %v, recorded %v", seed, got, err, want)
		}
	}
	_, err = run(replay(), "y")
	e, ok := err.(*engine.Error)
	if !ok || e.Kind != engine.KindReplay || e.Code != "AS718" || !strings.Contains(strings.Join(e.Notes, "\n"), `asked:    "y"`) {
		t.Errorf("%v, %+v", err, e)
	}
	if strings.Contains(record.String(), "sk-test") {
		t.Error("the key is recorded")
	}
}
