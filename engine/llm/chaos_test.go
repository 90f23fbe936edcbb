package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/hang"
)

// swift is a clock that runs a thousand times as fast, for real but short waits.
type swift struct{ begun time.Time }

func (c swift) Now() time.Time { return c.begun.Add(1000 * time.Since(c.begun)) }

func (c swift) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d/1000, f).Stop
}

// chaos lists the ways in which the server answers, including the good ones.
func chaos() []llmtest.Reply {
	text := "one two three four five six seven"
	good := llmtest.Reply{Text: text, Reasoning: "let me see", In: 5, Out: 7}
	with := func(f llmtest.Fault) llmtest.Reply { r := good; r.Fault = f; return r }
	return []llmtest.Reply{
		good, good, {Calls: []llmtest.Call{{ID: "a", Name: "compile", Args: `{"path":"a.go"}`}}}, {Text: text, ByRunes: true}, {Text: text, Plain: true},
		with(llmtest.Cut), with(llmtest.End), with(llmtest.NoEnd), with(llmtest.Reset), with(llmtest.Garbage), with(llmtest.NoChoices),
		with(llmtest.StallHeaders), with(llmtest.StallStream),
		busy(), busy("Retry-After-Ms", "30"), busy("Retry-After", "soon"), down(),
		openAIError(500, "", "on fire"), {Status: 502, Body: "<html>Bad Gateway</html>", Type: "text/html"}, {Status: 529, Body: strings.Repeat("x", 100_000)}, {Status: 408},
		{Body: "<html>Sign in</html>", Type: "text/html"}, {Body: " \n"}, {Body: `{"choices":"none"}`}, {Body: "\x00\xff\xfe", Type: "text/event-stream"},
		{Body: "data: " + strings.Repeat("y", 300_000), Type: "text/event-stream"}, {Body: `{"error":{"message":"inside","code":503}}`},
		{Status: 307, Header: map[string]string{"Location": "http://elsewhere.invalid/"}},
		{Refusal: "no"}, {Text: text, Finish: "length"}, {}, {Calls: []llmtest.Call{{Name: "compile", Args: `{"pa`}}, Finish: "length"},
	}
}

// TestChaos makes calls with all kinds of results, from many concurrent branches, with retries and fallbacks: each ends
// in a value or a typed error and leaves nothing behind. AGENTSCRIPT_CHAOS sets the number of calls.
func TestChaos(t *testing.T) {
	calls := 400
	if n, err := strconv.Atoi(os.Getenv("AGENTSCRIPT_CHAOS")); err == nil {
		calls = n
	}
	goroutines := settled(runtime.NumGoroutine())
	var open atomic.Int64
	var requests atomic.Uint64
	var handlers []http.Handler
	var fakes []*llmtest.Server
	for _, r := range chaos() {
		fakes = append(fakes, llmtest.New(always(r)))
		handlers = append(handlers, fakes[len(fakes)-1].Config.Handler)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rng := rand.New(rand.NewPCG(7, requests.Add(1)))
		handlers[rng.IntN(len(handlers))].ServeHTTP(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
	s.Start()
	r := llm.New(env("OPENAI_API_KEY", "k-of-a-test", "OPENROUTER_API_KEY", "k-of-a-test"), llm.WithClock(swift{time.Now()}), llm.WithRetry(llm.RetryPolicy{AfterTokens: true}),
		llm.WithBaseURL("openai", s.URL+"/v1"), llm.WithBaseURL("ollama", s.URL), llm.WithBaseURL("openrouter", s.URL+"/v1"),
		llm.WithLimits("", llm.Limits{InFlight: 16}), llm.WithTimeouts(llm.Timeouts{Connect: 5 * time.Second, FirstByte: 150 * time.Millisecond, Idle: 60 * time.Millisecond}))
	var mu sync.Mutex
	ended := map[string]int{}
	work := make(chan int)
	var wg sync.WaitGroup
	for range 48 {
		wg.Go(func() {
			for i := range work {
				how := chaosCall(t, r, i)
				mu.Lock()
				ended[how]++
				mu.Unlock()
			}
		})
	}
	for i := range calls {
		work <- i
	}
	close(work)
	wg.Wait()
	t.Logf("%d calls, %d requests: %v", calls, requests.Load(), ended)
	if len(ended) < 5 || ended["answer"] == 0 {
		t.Errorf("the calls ended in too few ways: %v", ended)
	}
	for _, load := range r.Limiter().Load() {
		if load.InFlight != 0 || load.Waiting != 0 {
			t.Errorf("left in the limiter: %+v", load)
		}
	}
	r.Close()
	s.Close()
	for _, f := range fakes {
		f.Close()
	}
	hang.Until(t, fmt.Sprintf("no connection is open, and %d goroutines run", goroutines), func() bool {
		return open.Load() == 0 && runtime.NumGoroutine() <= goroutines
	})
}

// settled waits until goroutines of earlier tests have ended, and returns how many are left.
func settled(n int) int {
	for range 100 {
		time.Sleep(5 * time.Millisecond)
		now := runtime.NumGoroutine()
		if now >= n {
			return now
		}
		n = now
	}
	return n
}

// chaosCall makes a call, sometimes streamed, sometimes cancelled, and returns how it ended.
func chaosCall(t *testing.T, r *llm.Registry, i int) string {
	e := effect([]string{"openai/m", "ollama/m", "openrouter/m"}[i%3]+strconv.Itoa(i%40), prompt(fmt.Sprintf("call %d", i)))
	req := e.Req.(*model.Request)
	if i%5 == 0 {
		req.Fallbacks = []string{"openai/other", "ollama/other"}
	}
	e.Stream = i%2 == 0
	ctx := t.Context()
	if i%11 == 0 {
		short, cancel := context.WithTimeout(ctx, time.Duration(i%50)*time.Millisecond)
		defer cancel()
		ctx = short
	}
	var mu sync.Mutex
	text := map[int]string{}
	out := r.Do(ctx, e, func(tok engine.Token) {
		mu.Lock()
		defer mu.Unlock()
		if !tok.Reasoning {
			text[tok.Attempt] += tok.Text
		}
	})
	switch {
	case (out.Err == nil) == (out.Response == nil):
		t.Errorf("call %d: neither answer nor error, or both: %+v", i, out)
	case !out.Usage.Plausible() || out.Attempt < 1:
		t.Errorf("call %d: %+v", i, out)
	case out.Err == nil:
		if e.Stream && text[out.Attempt] != out.Response.Text() {
			t.Errorf("call %d: answered %q, streamed %q", i, out.Response.Text(), text[out.Attempt])
		}
		return "answer"
	default:
		known := []engine.ErrKind{engine.KindRateLimit, engine.KindOverloaded, engine.KindServer, engine.KindNetwork, engine.KindTimeout, engine.KindTruncated,
			engine.KindBadResponse, engine.KindRefused, engine.KindCancelled}
		if err := out.Err; !slices.Contains(known, err.Kind) || err.Model == nil || err.Message == "" || err.Code == "" || !errors.Is(err, &engine.Error{Kind: err.Kind}) {
			t.Errorf("call %d: %s %s %+v: %v", i, err.Kind, err.Code, err.Model, err)
		}
		return string(out.Err.Kind)
	}
	return "neither"
}
