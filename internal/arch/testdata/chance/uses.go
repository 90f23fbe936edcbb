package chance

import (
	"context"
	"crypto/rand" // want "imports crypto/rand"
	"iter"
	"math/rand/v2" // want "imports math/rand/v2"
	"sync"
	"time"
	clock "time"
)

type inbox chan int // want "uses a channel type"

type group struct {
	sync.Mutex
	wg sync.WaitGroup // want "uses sync.WaitGroup"
}

func uses(c inbox, seq iter.Seq[int]) {
	go uses(c, seq) // want "starts a goroutine"
	c <- 1          // want "sends to a channel"
	<-c             // want "receives from a channel"
	select {}       // want "selects over channels"
}

func clocks() (time.Time, time.Duration) {
	t := time.Now()              // want "uses time.Now"
	<-time.After(time.Second)    // want "receives from a channel" "uses time.After"
	clock.Sleep(0)               // want "uses time.Sleep"
	time.NewTimer(0)             // want "uses time.NewTimer"
	time.AfterFunc(0, func() {}) // want "uses time.AfterFunc"
	wait := time.Tick            // want "uses time.Tick"
	_, _ = wait, time.Until      // want "uses time.Until"
	return t, time.Since(t)      // want "uses time.Since"
}

func contexts(ctx context.Context, seq iter.Seq[int]) {
	ctx = context.Background()         // want "uses context.Background"
	ctx, _ = context.WithCancel(ctx)   // want "uses context.WithCancel"
	ctx = context.WithValue(ctx, 1, 2) // want "uses context.WithValue"
	iter.Pull(seq)                     // want "uses iter.Pull"
	_, _ = rand.Read(nil)
}
