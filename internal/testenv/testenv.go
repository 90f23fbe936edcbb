// Package testenv describes how tests were built, and measures what does not depend on the machine.
package testenv

import "testing"

// LeastAllocs returns the least allocations of one call of f, over several averages of runs calls. Other goroutines,
// the collector, which drops pooled objects, and the race detector, which drops them at random, only add allocations.
func LeastAllocs(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for range 4 {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}
