package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapEnv makes each collection stop the world, so that the heap found alive was alive at that time and nothing was
// allocated meanwhile.
const heapEnv = "GODEBUG=gcstoptheworld=1"

// peakHeap returns the peak of live bytes while a text is decoded and its result held, without the text itself, per
// byte of the text. The collector runs whenever the heap has grown by a tenth, and between its runs peakHeap reads how
// much it found alive. The process keeps these settings.
func peakHeap(d *document, decode func(*document) (any, error)) float64 {
	runtime.GOMAXPROCS(2) // one decodes, one reads the metrics
	debug.SetGCPercent(10)
	runtime.GC()
	base := liveHeap()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		top := uint64(0)
		for {
			top = max(top, liveHeap())
			select {
			case <-stop:
				peak <- top
				return
			case <-time.After(100 * time.Microsecond):
			}
		}
	}()
	result, err := decode(d)
	runtime.GC()
	close(stop)
	top := max(<-peak, liveHeap())
	runtime.KeepAlive(result)
	runtime.KeepAlive(err)
	runtime.KeepAlive(d)
	return float64(top-min(base, top)) / float64(len(d.text))
}

// liveHeap returns how many bytes the last collection found alive.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
