package conformance

import (
	"context"
	"math"
	"runtime"
	"testing"
)

// linear reads texts of growing sizes, and fails the test if the work grows faster than the texts.
//
// The work looks at its context as it proceeds: the looks are counted, and neither the machine nor its other work changes
// their number. What does not look, such as the interpreter's parser, is measured by CPU time. Where the caches of the
// machine no longer suffice, a linear algorithm takes three times as long for each byte, and other work on the machine adds
// to that. So only growth that is closer to a square than to a line is an error, if it is found three times.
func linear(t *testing.T, sizes []int, text func(n int) string, read func(ctx context.Context, src string)) {
	t.Helper()
	cost := func(src string) (looks int64, seconds float64) {
		ctx := &countedContext{Context: context.Background(), after: math.MaxInt64}
		runtime.GC()
		before, _ := cpuSeconds()
		read(ctx, src)
		after, _ := cpuSeconds()
		return ctx.asked.Load(), after - before
	}
	last := text(sizes[0])
	lastLooks, lastTook := cost(last)
	for i, n := range sizes[1:] {
		src := text(n)
		grown := float64(n) / float64(sizes[i])
		looks, took := cost(src)
		if float64(looks) > 2*grown*float64(max(lastLooks, 50)) {
			t.Fatalf("%d bytes: %d looks at the context, for %d bytes %d", len(src), looks, len(last), lastLooks)
		}
		// Short times are not compared: garbage collection and the machine blur them.
		for tries := 1; took > math.Pow(grown, 1.6)*max(lastTook, 0.03); tries++ {
			if tries == 3 {
				t.Fatalf("%d bytes take %.3f s, and %d bytes %.3f s", len(src), took, len(last), lastTook)
			}
			_, again := cost(last)
			lastTook = min(lastTook, again)
			_, again = cost(src)
			took = min(took, again)
		}
		last, lastLooks, lastTook = src, looks, took
	}
}
