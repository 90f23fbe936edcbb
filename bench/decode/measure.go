package main

import (
	"runtime"
	"slices"
	"time"
)

// task is something to be measured: it does its work n times.
type task interface {
	run(n int) (usage, error)
}

// usage is what n turns of a task took together.
type usage struct {
	cpu    time.Duration
	allocs uint64
	bytes  uint64
}

// inProcess is a task in Go.
type inProcess func() error

func (f inProcess) run(n int) (usage, error) {
	var before, after runtime.MemStats
	// What the tasks before left behind is not this one's to collect.
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := cpu()
	for range n {
		if err := f(); err != nil {
			return usage{}, err
		}
	}
	u := usage{cpu: cpu() - start}
	runtime.ReadMemStats(&after)
	u.allocs, u.bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	return u, nil
}

// measured is what a task takes for one turn.
type measured struct {
	rounds []float64 // nanoseconds, one figure for each round
	allocs float64
	bytes  float64
	err    error
}

func (m *measured) ns() float64 { return median(m.rounds) }

// measure gives each task its share of total in so many rounds. The tasks take turns in each
// round, so that what disturbs the machine disturbs all alike, and none always goes first.
func measure(tasks []task, total time.Duration, rounds int) []*measured {
	out := make([]*measured, len(tasks))
	turns := make([]int, len(tasks))
	share := total / time.Duration(rounds)
	for i, t := range tasks {
		out[i] = new(measured)
		turns[i], out[i].err = calibrate(t, share)
	}
	order := make([]int, len(tasks))
	for i := range order {
		order[i] = i
	}
	for range rounds {
		for _, i := range order {
			m := out[i]
			if m.err != nil {
				continue
			}
			u, err := tasks[i].run(turns[i])
			if err != nil {
				m.err = err
				continue
			}
			n := float64(turns[i])
			m.rounds = append(m.rounds, float64(u.cpu)/n)
			m.allocs, m.bytes = float64(u.allocs)/n, float64(u.bytes)/n
		}
		order = append(order[1:], order[0])
	}
	return out
}

// calibrate warms a task up and finds how many turns take about as long as share.
func calibrate(t task, share time.Duration) (int, error) {
	for n := 1; ; n *= 4 {
		u, err := t.run(n)
		if err != nil {
			return 0, err
		}
		if u.cpu >= share/8 || n > 1<<24 {
			return max(1, int(float64(share)*float64(n)/float64(max(u.cpu, 1)))), nil
		}
	}
}

// ratio is the median over the rounds of how much longer a takes than b.
func ratio(a, b *measured) float64 {
	var all []float64
	for i := range min(len(a.rounds), len(b.rounds)) {
		all = append(all, a.rounds[i]/b.rounds[i])
	}
	return median(all)
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
