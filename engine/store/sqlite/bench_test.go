package sqlite_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// answered returns a step of 2 KB, the size of a model's answer.
func answered(i int) engine.Step {
	return engine.Step{ID: fmt.Sprintf("main/then:review#0/par0[3]/agent:critic#1/llm%d@0123456789abcdef", i), State: engine.StepDone, Kind: engine.EffectModel,
		Name: "openai/gpt", Agent: "critic", Class: engine.ClassIdempotent, Key: fmt.Sprintf("%064x", i), Request: json.RawMessage(`{"text":"` + strings.Repeat("q", 1000) + `"}`),
		Outcome: json.RawMessage(`{"text":"` + strings.Repeat("a", 1000) + `"}`), Usage: model.Usage{In: 300, Out: 200, CostUSD: 0.001}, Begun: time.Unix(1, 2), Ended: time.Unix(3, 4)}
}

// raw returns a statement that inserts a row of 2 KB into the only table of a database, with one commit each.
func raw(b *testing.B) *sql.Stmt {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "raw.db")+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { db.Close() })
	if _, err := db.Exec("CREATE TABLE t (n INTEGER PRIMARY KEY, id TEXT, data TEXT)"); err != nil {
		b.Fatal(err)
	}
	st, err := db.Prepare("INSERT INTO t (id, data) VALUES (?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	return st
}

// BenchmarkPut commits steps of many flows at once, each of which waits for each of its steps. For comparison it
// inserts the same number of rows into a plain table, one commit each, on one connection. On a slower disk each sync
// takes longer: flows share the cost of a commit.
func BenchmarkPut(b *testing.B) {
	for _, flows := range []int{1, 16, 64} {
		for _, slower := range []time.Duration{0, 150 * time.Microsecond, 250 * time.Microsecond} {
			name := func(what string) string {
				if slower == 0 {
					return fmt.Sprintf("%d/%s", flows, what)
				}
				return fmt.Sprintf("%d/%s+%v", flows, what, slower)
			}
			b.Run(name("raw"), func(b *testing.B) { benchmarkRows(b, flows, slower) })
			b.Run(name("store"), func(b *testing.B) { benchmarkSteps(b, flows, slower) })
		}
	}
}

func benchmarkRows(b *testing.B, flows int, slower time.Duration) {
	st := raw(b)
	data := strings.Repeat("x", 2000)
	var disk sync.Mutex
	inFlows(b, flows, func(_, i int) error {
		disk.Lock()
		defer disk.Unlock()
		_, err := st.Exec(fmt.Sprint("main/llm", i), data)
		waits(slower)
		return err
	})
}

func benchmarkSteps(b *testing.B, flows int, slower time.Duration) {
	s := open(b, filepath.Join(b.TempDir(), "runs.db"), sqlite.Slow(func() { waits(slower) }))
	runs := make([]engine.OpenRun, flows)
	for f := range runs {
		r, err := s.CreateRun(b.Context(), engine.RunHead{ID: fmt.Sprint("flow", f)}, engine.Owner{})
		if err != nil {
			b.Fatal(err)
		}
		runs[f] = r
	}
	inFlows(b, flows, func(f, i int) error { return runs[f].Put(b.Context(), answered(i), true) })
}

// waits simulates a disk at work. A timer would take at least a millisecond on some machines.
func waits(d time.Duration) {
	for begun := time.Now(); time.Since(begun) < d; {
		runtime.Gosched()
	}
}

// inFlows puts b.N items from several goroutines at once.
func inFlows(b *testing.B, flows int, put func(flow, i int) error) {
	var next atomic.Int64
	begun := cpu()
	b.ResetTimer()
	var all sync.WaitGroup
	for f := range flows {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := put(f, int(i)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(float64((cpu()-begun).Microseconds())/float64(b.N), "cpu-us/step")
}

// BenchmarkLoad reads the 20,000 steps of a run.
func BenchmarkLoad(b *testing.B) {
	const n = 20_000
	s := open(b, filepath.Join(b.TempDir(), "runs.db"))
	r, err := s.CreateRun(b.Context(), engine.RunHead{ID: "one"}, engine.Owner{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if err := r.Put(b.Context(), answered(i), false); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	begun := cpu()
	b.ResetTimer()
	for range b.N {
		found := 0
		if err := s.Steps(b.Context(), "one", 0, func(engine.Step) error { found++; return nil }); err != nil || found != n {
			b.Fatal(found, err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(float64(n*b.N)/(cpu()-begun).Seconds(), "steps/cpu-s")
}

// BenchmarkTenThousand finds runs among 10,000.
func BenchmarkTenThousand(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "runs.db"))
	fill(b, s, 10_000)
	for _, c := range []struct {
		what string
		f    engine.RunFilter
		want int
	}{
		{"all", engine.RunFilter{}, 10_000},
		{"newest", engine.RunFilter{Limit: 20}, 20},
		{"prefix", engine.RunFilter{Prefix: "run00123"}, 10},
	} {
		b.Run(c.what, func(b *testing.B) {
			for range b.N {
				if all, err := s.Runs(b.Context(), c.f); err != nil || len(all) != c.want {
					b.Fatal(len(all), err)
				}
			}
		})
	}
	b.Run("one", func(b *testing.B) {
		for i := range b.N {
			if _, err := s.Run(b.Context(), fmt.Sprintf("run%06d", i%10_000)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("take", func(b *testing.B) {
		for i := range b.N {
			r, err := s.TakeRun(b.Context(), fmt.Sprintf("run%06d", i%10_000), engine.Owner{})
			if err == nil {
				err = r.Close()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkShortRun opens a store that holds 10,000 runs, creates a run with one step in it, and ends and closes it.
func BenchmarkShortRun(b *testing.B) {
	path := filepath.Join(b.TempDir(), "runs.db")
	fill(b, open(b, path), 10_000)
	b.ResetTimer()
	for i := range b.N {
		shortRun(b, path, fmt.Sprint("short", i))
	}
}
