package llm_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/internal/testenv"
)

// crowded is a provider that refuses calls by a rule, and checks that refused callers stay away as long as it said.
type crowded struct {
	refuse func(n, try int) bool // the n-th request of all, which is the try-th of its call

	mu       sync.Mutex
	requests int
	tries    map[string]int
	refused  map[string]time.Time
	early    []string
	busy     int
	most     int
}

const crowdedWait = 50 * time.Millisecond

var callName = regexp.MustCompile(`call-\d+`)

func (c *crowded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	name := callName.FindString(string(body))
	refuse := c.enter(name)
	defer c.leave()
	w.Header().Set("Content-Type", "application/json")
	if refuse {
		w.Header().Set("Retry-After-Ms", fmt.Sprint(crowdedWait.Milliseconds()))
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`)
		return
	}
	time.Sleep(time.Millisecond) // others arrive meanwhile
	fmt.Fprintf(w, `{"choices":[{"message":{"content":"answer of %s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, name)
}

func (c *crowded) enter(name string) (refuse bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if at, ok := c.refused[name]; ok && now.Sub(at) < crowdedWait {
		c.early = append(c.early, fmt.Sprintf("%s after %s", name, now.Sub(at)))
	}
	c.requests++
	c.tries[name]++
	c.busy++
	c.most = max(c.most, c.busy)
	if refuse = c.refuse(c.requests, c.tries[name]); refuse {
		c.refused[name] = now
	}
	return refuse
}

func (c *crowded) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
}

// TestFanOut makes up to 500 concurrent calls to a provider that refuses many of them. It uses the time of a bubble, in
// which nobody really waits and no call is early by chance.
func TestFanOut(t *testing.T) {
	window, served := time.Time{}, 0
	for _, row := range []struct {
		name   string
		calls  int
		refuse func(n, try int) bool
		fail   bool // calls may fail: the rule depends on time, or refuses all
	}{
		{"the first try of each", 500, func(_, try int) bool { return try == 1 }, false},
		{"the first of all", 500, func(n, _ int) bool { return n <= 40 }, false},
		{"two tries of every third", 60, func(n, try int) bool { return n%3 == 0 && try < 3 }, false},
		{"all", 60, func(int, int) bool { return true }, true},
		{"ten in each twentieth of a second", 200, func(int, int) bool {
			if now := time.Now(); now.Sub(window) > 50*time.Millisecond {
				window, served = now, 0
			}
			served++
			return served > 10
		}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			window = time.Time{}
			c := &crowded{refuse: row.refuse, tries: map[string]int{}, refused: map[string]time.Time{}}
			r := llm.New(env("OPENAI_API_KEY", "k-of-a-test"), llm.WithTransport(roundTripper(func(req *http.Request) (*http.Response, error) {
				w := httptest.NewRecorder()
				c.ServeHTTP(w, req)
				return w.Result(), nil
			})))
			outs := make([]engine.Outcome, row.calls)
			var wg sync.WaitGroup
			begun := time.Now()
			for i := range outs {
				wg.Go(func() { outs[i] = ask(r, "openai/m", prompt(fmt.Sprintf("call-%d", i))) })
			}
			wg.Wait()
			t.Logf("%s: %d requests in %s", row.name, c.requests, time.Since(begun))
			failed := 0
			for i, out := range outs {
				switch {
				case out.Err == nil && out.Response.Text() == fmt.Sprintf("answer of call-%d", i):
				case out.Err != nil && row.fail && (out.Err.Kind == engine.KindRateLimit || out.Err.Kind == engine.KindOverloaded):
					failed++
				default:
					t.Fatalf("%s: call %d: %+v", row.name, i, out)
				}
			}
			if failed > 0 {
				t.Logf("%d calls failed", failed)
			}
			if c.most > llm.DefaultInFlight {
				t.Errorf("%s: %d calls in flight at once, want %d at the most", row.name, c.most, llm.DefaultInFlight)
			}
			if len(c.early) > 0 {
				t.Errorf("%s: %d tries came early: %s", row.name, len(c.early), c.early[0])
			}
			if load := r.Limiter().Load(); len(load) != 1 || load[0].InFlight != 0 || load[0].Waiting != 0 {
				t.Errorf("%s: left behind: %+v", row.name, load)
			}
		})
	}
}

// TestParkedCall measures the cost of a call that waits for its turn: a goroutine and little memory, and no connection.
func TestParkedCall(t *testing.T) {
	release := make(chan struct{})
	var mu sync.Mutex
	conns := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-release
		fmt.Fprint(w, `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			mu.Lock()
			conns++
			mu.Unlock()
		}
	}
	s.Start()
	defer s.Close()
	r := llm.New(env("OPENAI_API_KEY", "k-of-a-test"), llm.WithBaseURL("openai", s.URL), llm.WithLimits("openai", llm.Limits{InFlight: 1}))
	defer r.Close()
	parked := func(n int) {
		hang.Until(t, fmt.Sprintf("%d calls wait", n), func() bool {
			load := r.Limiter().Load()
			return len(load) == 1 && load[0].InFlight == 1 && load[0].Waiting == n
		})
	}
	var wg sync.WaitGroup
	call := func() {
		wg.Go(func() {
			if out := ask(r, "openai/m", prompt("x")); out.Err != nil {
				t.Error(out.Err)
			}
		})
	}
	call()
	parked(0)
	n := 2000
	if testenv.RaceDetector { // it is slow, and uses additional memory
		n = 200
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	goroutines := runtime.NumGoroutine()
	for range n {
		call()
	}
	parked(n)
	runtime.GC()
	runtime.ReadMemStats(&after)
	heap, stack := int(after.HeapAlloc-before.HeapAlloc)/n, int(after.StackInuse-before.StackInuse)/n
	t.Logf("a parked call: %d bytes of heap, %d of stack", heap, stack)
	if !testenv.RaceDetector && (heap > 4<<10 || stack > 8<<10) {
		t.Errorf("a parked call takes %d bytes of heap and %d of stack, want 4 KiB and 8 KiB at the most", heap, stack)
	}
	if got := runtime.NumGoroutine() - goroutines; got > n+8 {
		t.Errorf("%d goroutines for %d calls", got, n)
	}
	mu.Lock()
	if conns != 1 {
		t.Errorf("%d connections", conns)
	}
	mu.Unlock()
	close(release)
	wg.Wait()
}
