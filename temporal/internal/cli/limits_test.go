package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/internal/hang"
)

// All runs of a worker share one limiter, which bounds the calls of a provider that are in flight.
func TestOneLimiter(t *testing.T) {
	b := onServer(t)
	var now, most, calls atomic.Int32
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		is := now.Add(1)
		defer now.Add(-1)
		for was := most.Load(); is > was && !most.CompareAndSwap(was, is); was = most.Load() {
		}
		calls.Add(1)
		time.Sleep(150 * time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"said"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`))
	}))
	defer provider.Close()
	b.env = append(b.env, "AGENTSCRIPT_COMPAT_URL="+provider.URL)
	at := []string{"--task-queue", "limits"}
	b.worker(append(at, "--max-in-flight", "2")...)
	file := b.script(`
a = agent("a", prompt = "Work.", model = "compat/m")
branches = each(a)
def main(n = int):
    return str(len(branches(["branch %d" % i for i in range(n)])))
`)
	var ids []string
	for range 4 {
		ids = append(ids, b.startRun(append(at, file, "--n", "4")...))
	}
	for _, id := range ids {
		hang.Until(t, "the run ends", func() bool {
			return strings.Contains(b.exec("temporal", append([]string{"runs", "show", id}, at...)...).out, "result: 4")
		})
	}
	if most.Load() != 2 || calls.Load() != 16 {
		t.Errorf("%d calls at once of %d", most.Load(), calls.Load())
	}
}

// All workers of a queue share a rate limit, which the server enforces.
func TestEffectsPerSecond(t *testing.T) {
	b := onServer(t)
	at := []string{"--task-queue", "rate", "--allow-exec", "true"}
	for range 2 {
		b.worker(append(at, "--effects-per-second", "5")...)
	}
	begun := time.Now()
	b.temporal(0, "", append(append([]string{"run"}, at...), b.script(`
def one(x):
    return str(sh.run(["true"]).code)
branches = each(fn(one))
def main(n = int):
    return str(len(branches(["%d" % i for i in range(n)])))
`), "--n", "25")...)
	if took := time.Since(begun); took < 2*time.Second {
		t.Errorf("25 effects took %s", took)
	}
}
