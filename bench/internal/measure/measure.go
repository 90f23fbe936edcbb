// Package measure measures tasks against each other and prints the figures in tables.
package measure

import (
	"runtime"
	"slices"
	"time"
)

// Task is something to measure. Run does its work n times.
type Task interface {
	Run(n int) (Usage, error)
}

// Usage is the total cost of n turns of a task.
type Usage struct {
	CPU    time.Duration
	Allocs uint64
	Bytes  uint64
}

// InProcess is a task in Go.
type InProcess func() error

// Run implements [Task].
func (f InProcess) Run(n int) (Usage, error) {
	var before, after runtime.MemStats
	// This task must not collect the garbage of earlier tasks.
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := CPU()
	for range n {
		if err := f(); err != nil {
			return Usage{}, err
		}
	}
	u := Usage{CPU: CPU() - start}
	runtime.ReadMemStats(&after)
	u.Allocs, u.Bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	return u, nil
}

// Measured is the cost of one turn of a task.
type Measured struct {
	Rounds []float64 // nanoseconds, one figure for each round
	Allocs float64
	Bytes  float64
	Err    error
}

// NS returns the median of the rounds, in nanoseconds.
func (m *Measured) NS() float64 { return median(m.Rounds) }

// Least returns the fastest of the rounds, in nanoseconds. On a shared machine, it is the one with the least
// interference.
func (m *Measured) Least() float64 {
	if len(m.Rounds) == 0 {
		return 0
	}
	return slices.Min(m.Rounds)
}

// Measure gives each task its share of total, divided into rounds. The tasks take turns in each round, so that
// interference affects all of them alike, and none always goes first.
func Measure(tasks []Task, total time.Duration, rounds int) []*Measured {
	out := make([]*Measured, len(tasks))
	turns := make([]int, len(tasks))
	share := total / time.Duration(rounds)
	for i, t := range tasks {
		out[i] = new(Measured)
		turns[i], out[i].Err = calibrate(t, share)
	}
	order := make([]int, len(tasks))
	for i := range order {
		order[i] = i
	}
	for range rounds {
		for _, i := range order {
			m := out[i]
			if m.Err != nil {
				continue
			}
			u, err := tasks[i].Run(turns[i])
			if err != nil {
				m.Err = err
				continue
			}
			n := float64(turns[i])
			m.Rounds = append(m.Rounds, float64(u.CPU)/n)
			m.Allocs, m.Bytes = float64(u.Allocs)/n, float64(u.Bytes)/n
		}
		order = append(order[1:], order[0])
	}
	return out
}

// calibrate warms up a task and returns how many turns take about as long as share.
func calibrate(t Task, share time.Duration) (int, error) {
	for n := 1; ; n *= 4 {
		u, err := t.Run(n)
		if err != nil {
			return 0, err
		}
		if u.CPU >= share/8 || n > 1<<24 {
			return max(1, int(float64(share)*float64(n)/float64(max(u.CPU, 1)))), nil
		}
	}
}

// Ratio returns how many times longer a takes than b, as the median over the rounds.
func Ratio(a, b *Measured) float64 {
	var all []float64
	for i := range min(len(a.Rounds), len(b.Rounds)) {
		all = append(all, a.Rounds[i]/b.Rounds[i])
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
