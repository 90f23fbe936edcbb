package conformance

import (
	"context"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/internal/hang"
)

// holding is a model that never answers and counts its waiting callers.
type holding struct {
	mu sync.Mutex
	n  int
}

func (h *holding) Do(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
	h.mu.Lock()
	h.n++
	h.mu.Unlock()
	<-ctx.Done()
	return engine.Failed(engine.Errorf(engine.KindCancelled, "AS712", "stopped"))
}

func (h *holding) waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

// footprint is what a run holds while it is parked.
type footprint struct{ heap, stack, goroutines, files float64 }

// park starts n runs, waits until all of them are parked, measures what each holds, and ends them.
func park(t testing.TB, n int, start func() *agentscript.Run, parked func() int) footprint {
	t.Helper()
	read := func() (m runtime.MemStats, goroutines, files int) {
		runtime.GC()
		runtime.GC() // frees what the first one finalizes
		runtime.ReadMemStats(&m)
		return m, runtime.NumGoroutine(), openFiles()
	}
	runs := make([]*agentscript.Run, n)
	parkAll := func() {
		begun := parked()
		for i := range runs {
			runs[i] = start()
		}
		hang.Until(t, "all runs wait", func() bool { return parked() >= begun+n })
	}
	endAll := func() {
		for _, r := range runs {
			r.Cancel()
		}
		for i, r := range runs {
			<-r.Done()
			runs[i] = nil
		}
	}
	// What all runs share, and what the runtime keeps of goroutines that have ended (some 480 bytes each), is there before.
	parkAll()
	endAll()
	before, had, opened := read()
	parkAll()
	after, has, open := read()
	endAll()
	per := func(a, b uint64) float64 { return (float64(b) - float64(a)) / float64(n) }
	return footprint{per(before.HeapAlloc, after.HeapAlloc), per(before.StackInuse, after.StackInuse), float64(has-had) / float64(n), float64(open-opened) / float64(n)}
}

// openFiles counts the open files of this process, including sockets; 0 if it cannot be determined.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// waits are flows that end up waiting for a model.
var waits = []struct {
	name, src string
	input     bool
}{
	{"agent", `main = agent(prompt = "A.")`, true},
	{"pipeline", `main = fn(lambda s: s, input = str, output = str) >> agent(prompt = "A.")`, true},
	{"branch in a loop", `
a = agent(prompt = "A.").branch({str: fn(lambda s: s, input = str, output = str)})
main = a.loop(lambda s: None)
`, true},
	{"function", "a = agent(prompt = \"A.\")\ndef main():\n    return a(\"x\")\n", false},
}

// parkedFlow measures n runs of a flow that wait for a model.
func parkedFlow(t testing.TB, n int, src string, takesInput bool) footprint {
	t.Helper()
	mod, err := agentscript.New().Load(context.Background(), script(src), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	h := &holding{}
	opts := []agentscript.RunOption{agentscript.HandlerForAll(h)}
	if takesInput {
		opts = append(opts, input("x"))
	}
	return park(t, n, func() *agentscript.Run { return mod.Start(context.Background(), opts...) }, h.waiting)
}

// BenchmarkParkedRun measures what a run holds while it waits for a model, in memory and on the wire.
func BenchmarkParkedRun(b *testing.B) {
	report := func(b *testing.B, f footprint) {
		b.ReportMetric(f.heap, "heap-B/run")
		b.ReportMetric(f.stack, "stack-B/run")
		b.ReportMetric(f.goroutines, "goroutines/run")
		b.ReportMetric(0, "ns/op")
	}
	for _, w := range waits {
		b.Run(w.name, func(b *testing.B) {
			var f footprint
			for b.Loop() {
				f = parkedFlow(b, 2000, w.src, w.input)
			}
			report(b, f)
		})
	}
	for _, w := range asks {
		b.Run("approval/"+w.name, func(b *testing.B) {
			var f footprint
			for b.Loop() {
				f = parkedApproval(b, 1000, w.src)
			}
			report(b, f)
		})
	}
	b.Run("limiter", func(b *testing.B) {
		s := newSilence(b)
		models := llm.New(llm.WithBaseURL("ollama", "http://"+s.Addr().String()), llm.WithLimits("ollama", llm.Limits{InFlight: 1}))
		defer models.Close()
		mod, err := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("ollama/m")).Load(context.Background(), script(waits[0].src), "flow.star")
		if err != nil {
			b.Fatal(err)
		}
		begun := func(n *atomic.Int64) *agentscript.Run {
			return mod.Start(context.Background(), input("x"), agentscript.OnEvent(engine.EventEffect, func(engine.Event) { n.Add(1) }))
		}
		var first atomic.Int64
		busy := begun(&first) // holds the only permit
		for s.accepted() == 0 {
			time.Sleep(time.Millisecond)
		}
		var f footprint
		for b.Loop() {
			var n atomic.Int64
			f = park(b, 500, func() *agentscript.Run { return begun(&n) }, func() int {
				if n.Load() == 500 {
					time.Sleep(50 * time.Millisecond) // from there it is a few calls to the permit
				}
				return int(n.Load())
			})
		}
		busy.Cancel()
		<-busy.Done()
		report(b, f)
	})
	b.Run("http", func(b *testing.B) {
		s := newSilence(b)
		models := llm.New(llm.WithBaseURL("ollama", "http://"+s.Addr().String()), llm.WithLimits("ollama", llm.Limits{InFlight: -1}))
		defer models.Close()
		mod, err := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("ollama/m")).Load(context.Background(), script(waits[0].src), "flow.star")
		if err != nil {
			b.Fatal(err)
		}
		var f footprint
		for b.Loop() {
			had := s.accepted()
			f = park(b, 200, func() *agentscript.Run { return mod.Start(context.Background(), input("x")) }, func() int { return s.accepted() - had })
		}
		report(b, f)
	})
}

// silence accepts connections and says nothing.
type silence struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func newSilence(t testing.TB) *silence {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &silence{Listener: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, c)
			s.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close() // ends the loop above
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, c := range s.conns {
			_ = c.Close() // its peer has disconnected
		}
	})
	return s
}

func (s *silence) accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}
