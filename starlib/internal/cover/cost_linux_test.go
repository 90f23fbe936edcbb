package cover_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"go.starlark.net/starlark"
)

// userTime returns the CPU time of the process outside of the kernel, including garbage collection.
func userTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano())
}

// BenchmarkCover runs each script plain and covered in turns, and reports the CPU time of both and the median of their
// ratios. A turn is long enough that the clock's resolution does not matter.
func BenchmarkCover(b *testing.B) {
	for name, src := range scripts {
		plain, covered := compiledRun(b, src, false), compiledRun(b, src, true)
		b.Run(name, func(b *testing.B) {
			var times [2][]time.Duration
			var ratios []float64
			for b.Loop() {
				for i, script := range []starlark.Value{plain, covered} {
					begun := userTime(b)
					for range 10 {
						runs(b, script, 60_000)
					}
					times[i] = append(times[i], (userTime(b)-begun)/10)
				}
				n := len(times[0]) - 1
				ratios = append(ratios, float64(times[1][n])/float64(times[0][n]))
			}
			for i, unit := range []string{"plain-ns/run", "covered-ns/run"} {
				slices.Sort(times[i])
				b.ReportMetric(float64(times[i][len(times[i])/2].Nanoseconds()), unit)
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "covered/plain")
		})
	}
}
