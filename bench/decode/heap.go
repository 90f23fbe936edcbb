package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapEnv makes each collection stop the world, so that what is found alive was alive, and none
// of it made meanwhile.
const heapEnv = "GODEBUG=gcstoptheworld=1"

// peakHeap is how many bytes are live at the peak while a text is decoded and its result held,
// beyond the text and for each byte of it. The collector runs at every tenth that the heap
// grows by; what it finds alive is looked at between its runs. The process is left with these
// settings.
func peakHeap(d *document, decode func(*document) (any, error)) float64 {
	runtime.GOMAXPROCS(2) // one decodes, one looks
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

// liveHeap is what the last collection found alive.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
