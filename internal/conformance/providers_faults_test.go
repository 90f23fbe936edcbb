package conformance

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/hang"
)

const judges = `main = agent(name = "judge", prompt = "Judge.")`

// callFails runs an agent named judge whose call fails.
func callFails(t *testing.T, model string, models engine.Handler, opts ...agentscript.RunOption) *engine.Error {
	t.Helper()
	mod := loaded(t, agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel(model)), judges)
	res, err := mod.Start(t.Context(), append([]agentscript.RunOption{input("x")}, opts...)...).Wait()
	var e *engine.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %q, %v", model, res.Text(), err)
	}
	return e
}

// Promise 17.8 (real models): a call never ends in silent success: at every provider, whole or streamed, an answer
// that is cut, malformed, empty, without its end, refused, filtered or cut off by its limit is an error of that kind.
func TestPromise_17_8_NoSilentSuccess(t *testing.T) {
	listen := agentscript.OnEvent(engine.EventToken, func(engine.Event) {})
	long := strings.Repeat("one two three ", 20)
	for name, row := range map[string]struct {
		reply llmtest.Reply
		kinds string
		whole bool // also if it is not streamed
	}{
		"cut":        {llmtest.Reply{Text: long, Fault: llmtest.Cut}, "truncated", true},
		"ends early": {llmtest.Reply{Text: long, Fault: llmtest.End}, "truncated", false},
		"no end":     {llmtest.Reply{Text: long, Fault: llmtest.NoEnd}, "truncated", false},
		"garbage":    {llmtest.Reply{Fault: llmtest.Garbage}, "bad_response truncated", true},
		"no choices": {llmtest.Reply{Fault: llmtest.NoChoices}, "bad_response truncated", true},
		"empty":      {llmtest.Reply{Finish: ""}, "bad_response", true},
		"wrong type": {llmtest.Reply{Body: "<html>Sign in</html>", Type: "text/html"}, "bad_response", true},
		"reset":      {llmtest.Reply{Fault: llmtest.Reset}, "network", true},
	} {
		for _, model := range everyModel {
			for _, stream := range []bool{true, false} {
				if !stream && !row.whole {
					continue
				}
				var opts []agentscript.RunOption
				if stream {
					opts = append(opts, listen)
				}
				e := callFails(t, model, allProviders(t, serving(t, row.reply)), opts...)
				if !strings.Contains(" "+row.kinds+" ", " "+string(e.Kind)+" ") || !strings.Contains(e.Message, model) || e.Model == nil {
					t.Errorf("%s, %s, streamed %v: %s %v", model, name, stream, e.Kind, e)
				}
			}
		}
	}
	finishes := map[string][2]string{"openai": {"length", "content_filter"}, "mistral": {"length", "content_filter"}, "deepseek": {"length", "content_filter"}, "openrouter": {"length", "content_filter"},
		"compat": {"length", "content_filter"}, "anthropic": {"max_tokens", "refusal"}, "google": {"MAX_TOKENS", "SAFETY"}, "ollama": {"length", ""}}
	for _, model := range everyModel {
		provider, _, _ := strings.Cut(model, "/")
		for i, kind := range []engine.ErrKind{engine.KindTruncated, engine.KindRefused} {
			if word := finishes[provider][i]; word != "" {
				reply := llmtest.Reply{Text: "a part", Finish: word}
				if i == 0 { // a text that is cut off is an answer, and says so; thoughts alone are none
					reply.Text, reply.Reasoning = "", "hm"
				}
				if e := callFails(t, model, allProviders(t, serving(t, reply))); e.Kind != kind {
					t.Errorf("%s, %s: %s %v", model, word, e.Kind, e)
				}
			}
		}
	}
}

// Promise 17.9 (real models): the refusals of a provider are distinguished by their status, and the error names agent,
// model, attempt, cause and remedy.
func TestPromise_17_9_Statuses(t *testing.T) {
	kinds := map[int]engine.ErrKind{400: engine.KindBadRequest, 401: engine.KindAuth, 402: engine.KindQuota, 403: engine.KindAuth, 404: engine.KindNotFound, 408: engine.KindTimeout,
		409: engine.KindServer, 413: engine.KindContextLength, 429: engine.KindRateLimit, 500: engine.KindServer, 503: engine.KindOverloaded, 529: engine.KindOverloaded}
	for status, kind := range kinds {
		for _, model := range everyModel {
			e := callFails(t, model, allProviders(t, serving(t, providerError(status, "", "the cause of it"))))
			if e.Kind != kind || e.Model == nil || e.Model.Status != status || e.Help == "" || !strings.Contains(e.Path, "judge") ||
				!strings.Contains(e.Message, model) || !strings.Contains(e.Message, "the cause of it") || e.Attempt != 1 {
				t.Errorf("%s, %d: %s (attempt %d, help %q, path %q): %v", model, status, e.Kind, e.Attempt, e.Help, e.Path, e)
			}
		}
	}
}

// Promise 17.10 (real models): Retry-After is obeyed to the millisecond, and without it waits double; an answer that
// was partly streamed is not asked for again unless the host says so, and the usage of failed attempts counts.
func TestPromise_17_10_RetryAfter(t *testing.T) {
	longest := func(p llm.RetryPolicy) llm.Option {
		p.Jitter = func() float64 { return 1 }
		return llm.WithRetry(p)
	}
	said := limited("1234")
	seconds := providerError(503, "", "busy")
	seconds.Header = map[string]string{"Retry-After": "7"}
	clock := llmtest.NewClock()
	s := serving(t, said, seconds, providerError(500, "", "on fire"), llmtest.Reply{Text: "ok"})
	mod := loaded(t, agentscript.New(agentscript.WithModels(allProviders(t, s, longest(llm.RetryPolicy{}), llm.WithClock(clock))), agentscript.WithDefaultModel("openai/m")), judges)
	if res, err := mod.Start(t.Context(), input("x")).Wait(); err != nil || res.Text() != "ok" {
		t.Fatal(err)
	}
	if got := fmt.Sprint(clock.Waits()); got != "[1.234s 7s 2s]" {
		t.Errorf("waited %s", got)
	}
	for again, want := range map[bool]int{false: 1, true: 2} {
		s := serving(t, llmtest.Reply{Text: "one two three four", Fault: llmtest.Cut}, llmtest.Reply{Text: "ok"})
		mod := loaded(t, agentscript.New(agentscript.WithModels(allProviders(t, s, longest(llm.RetryPolicy{AfterTokens: again}), llm.WithClock(llmtest.NewClock()))), agentscript.WithDefaultModel("openai/m")), judges)
		_, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventToken, func(engine.Event) {})).Wait()
		if n := len(s.Requests()); n != want || (err == nil) != again {
			t.Errorf("asked %d times with AfterTokens %v: %v", n, again, err)
		}
	}

	s = serving(t, llmtest.Reply{In: 10}, llmtest.Reply{Text: "ok", In: 3, Out: 4}) // an answer without a text is asked for again
	mod = loaded(t, agentscript.New(agentscript.WithModels(allProviders(t, s, longest(llm.RetryPolicy{}), llm.WithClock(llmtest.NewClock()))), agentscript.WithDefaultModel("openai/m")), judges)
	var used model.Usage
	_, err := mod.Start(t.Context(), input("x"), summing(&used)).Wait()
	if err != nil || used.In != 13 || used.Out != 4 {
		t.Errorf("%+v, %v", used, err)
	}
}

// Promise 17.11 (real models): the models of a list are asked in order, across dialects; a model that failed five
// calls in a row is left out for half a minute, then tried with one call.
func TestPromise_17_11_FallbackAndBreaker(t *testing.T) {
	down := providerError(503, "", "busy")
	down.Repeat = true
	broken, well := serving(t, down), serving(t, llmtest.Reply{Text: "ok", Repeat: true})
	clock := llmtest.NewClock()
	models := allProviders(t, broken, llm.WithClock(clock), llm.WithBaseURL("anthropic", well.Anthropic()))
	mod := loaded(t, agentscript.New(agentscript.WithModels(models)), `main = agent(model = ["google/gemini-3-flash-preview", "anthropic/claude-sonnet-4-6"], prompt = "A.")`)
	run := func() int {
		before := len(broken.Requests())
		if res, err := mod.Start(t.Context(), input("x")).Wait(); err != nil || res.Text() != "ok" {
			t.Fatalf("%v %v", res, err)
		}
		return len(broken.Requests()) - before
	}
	var asked []int
	for range 7 {
		asked = append(asked, run())
	}
	clock.Pass(31 * time.Second)
	asked = append(asked, run(), run())
	if got := fmt.Sprint(asked); got != "[1 1 1 1 1 0 0 1 0]" {
		t.Errorf("the broken model was asked %s", got)
	}
	if len(well.Requests()) != 9 {
		t.Errorf("the other was asked %d times", len(well.Requests()))
	}
}

// Promise 17.12 (real models): no more calls are in flight than the limit, across all runs, and a call counts until
// its stream has ended; 500 branches against a provider that refuses with a wait all end with a value.
func TestPromise_17_12_Limiter(t *testing.T) {
	const limit, branches = 5, 500
	var busy, most, refused atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := busy.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		_, _ = io.Copy(io.Discard, r.Body) // it is not used
		if refused.Add(1)%3 == 1 {
			w.Header().Set("Retry-After-Ms", "50")
			w.WriteHeader(http.StatusTooManyRequests)
			busy.Add(-1) // the client may continue as soon as it has read this
			fmt.Fprint(w, `{"error":{"message":"slow down"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\n")
		w.(http.Flusher).Flush()
		busy.Add(-1)
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer s.Close()
	models := llm.New(variables("OPENAI_API_KEY", "k-of-a-test", "OPENAI_BASE_URL", s.URL+"/v1"), llm.WithLimits("openai", llm.Limits{InFlight: limit}), llm.WithClock(llmtest.NewClock()), llm.WithRetry(llm.RetryPolicy{Attempts: 40, Within: 1000 * time.Hour}))
	defer models.Close()
	mod := loaded(t, agentscript.New(agentscript.WithModels(models)), "a = agent(model = \"openai/m\", prompt = \"A.\")\ndef main(n = int):\n    return len(parallel(a, [str(i) for i in range(n)], limit = n))\n")
	var runs []*agentscript.Run
	for range 2 {
		runs = append(runs, mod.Start(t.Context(), agentscript.Args(map[string]any{"n": branches / 2}), agentscript.OnEvent(engine.EventToken, func(engine.Event) {})))
	}
	for _, r := range runs {
		if res, err := r.Wait(); err != nil || res.Text() != fmt.Sprint(branches/2) {
			t.Errorf("%v %v", res, err)
		}
	}
	if most.Load() > limit {
		t.Errorf("%d were in flight, %d are allowed", most.Load(), limit)
	}
	for _, l := range models.Limiter().Load() {
		if l.InFlight != 0 || l.Waiting != 0 {
			t.Errorf("%+v is left", l)
		}
	}
	openStreamCounts(t)
}

// openStreamCounts asserts that with a limit of one call, a second one is not sent while the first one still streams.
func openStreamCounts(t *testing.T) {
	t.Helper()
	var sent atomic.Int64
	last, done := make(chan struct{}), hang.Context(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := sent.Add(1) == 1
		_, _ = io.Copy(io.Discard, r.Body) // it is not used
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\n")
		w.(http.Flusher).Flush()
		if first {
			select {
			case <-last:
			case <-done.Done():
			}
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer s.Close()
	models := llm.New(variables("OPENAI_API_KEY", "k-of-a-test", "OPENAI_BASE_URL", s.URL+"/v1"), llm.WithLimits("openai", llm.Limits{InFlight: 1}))
	defer models.Close()
	mod := loaded(t, agentscript.New(agentscript.WithModels(models)), "a = agent(model = \"openai/m\", prompt = \"A.\")\ndef main():\n    return len(parallel(a, [\"1\", \"2\"]))\n")
	arrived := make(chan struct{}, 10)
	r := mod.Start(t.Context(), agentscript.OnEvent(engine.EventToken, func(engine.Event) { arrived <- struct{}{} }))
	select {
	case <-arrived:
	case <-done.Done():
		t.Fatal("nothing arrives")
	}
	hang.Until(t, "the second call waits", func() bool {
		now := models.Limiter().Load()
		return len(now) == 1 && now[0].InFlight == 1 && now[0].Waiting == 1
	})
	if n := sent.Load(); n != 1 {
		t.Errorf("%d calls were sent while one streams, one is allowed", n)
	}
	close(last)
	if res, err := r.Wait(); err != nil || res.Text() != "2" || sent.Load() != 2 {
		t.Errorf("%v %v after %d calls", res, err, sent.Load())
	}
}

// Promise 17.13 (real models): a refused connection, an invalid certificate, truncated arguments and arguments of a
// megabyte result in a value or a typed error, and no connection is left open.
func TestPromise_17_13_Faults(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if e := callFails(t, "openai/m", llm.New(variables("OPENAI_API_KEY", "k-of-a-test", "OPENAI_BASE_URL", nobody), llm.WithRetry(llm.RetryPolicy{Attempts: 1}))); e.Kind != engine.KindNetwork || e.Help == "" {
		t.Errorf("refused: %s %v", e.Kind, e)
	}
	forged := httptest.NewUnstartedServer(http.NotFoundHandler())
	forged.Config.ErrorLog = log.New(io.Discard, "", 0)
	forged.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	forged.StartTLS()
	defer forged.Close()
	if e := callFails(t, "anthropic/claude-sonnet-4-6", llm.New(variables("ANTHROPIC_API_KEY", "k-of-a-test", "ANTHROPIC_BASE_URL", forged.URL), llm.WithRetry(llm.RetryPolicy{Attempts: 1}))); e.Kind != engine.KindNetwork || !strings.Contains(e.Message, "certificate") {
		t.Errorf("a forged certificate: %s %v", e.Kind, e)
	}
	size := 1 << 20
	if testing.Short() {
		size = 1 << 17
	}
	huge := strings.Repeat("x", size)
	src := "def keep(text = str):\n    \"\"\"Keeps a text.\"\"\"\n    return len(text)\nmain = agent(prompt = \"A.\", tools = [keep])\n"
	for _, model := range everyModel {
		s := serving(t, llmtest.Reply{Calls: []llmtest.Call{{ID: "call_0001", Name: "keep", Args: `{"text":"` + huge + `"}`}}}, llmtest.Reply{Text: "kept"})
		if res, bodies, err := over(t, s, model, src); err != nil || res.Text() != "kept" || !strings.Contains(bodies[1], strconv.Itoa(size)) {
			t.Errorf("%s: %v, %d requests", model, err, len(bodies))
		}
	}
	for args, taken := range map[string]bool{`{"text":"cut`: false, `{"text":"whole"`: true} {
		for _, finish := range []string{"length", "tool_calls"} {
			s := serving(t, llmtest.Reply{Calls: []llmtest.Call{{ID: "call_0001", Name: "keep", Args: args}}, Finish: finish}, llmtest.Reply{Text: "sorry"})
			res, bodies, err := over(t, s, "openai/m", src)
			if finish == "length" {
				if err == nil {
					t.Errorf("arguments that the limit cut off are used: %v", res)
				}
			} else if err != nil || len(bodies) != 2 || strings.Contains(bodies[1], "bad arguments") == taken {
				t.Errorf("%s: %v %s", args, err, bodies)
			}
		}
	}
}
