package limiter

import (
	"math"
	"time"
)

// bucket allows a rate: it fills steadily, and holds what a tenth of a minute allows. What is
// larger than all that it holds goes when it is full, and is owed.
type bucket struct {
	perSecond, most float64 // 0: no bound
	has             float64
	at              time.Time // of has
}

func newBucket(perMinute float64, now time.Time) bucket {
	most := max(perMinute/10, 1)
	return bucket{perSecond: perMinute / 60, most: most, has: most, at: now}
}

func (b *bucket) fill(now time.Time) {
	if since := now.Sub(b.at).Seconds(); since > 0 {
		b.has = min(b.has+since*b.perSecond, b.most)
	}
	b.at = now
}

// wait is how long it takes until n may be spent.
func (b *bucket) wait(n float64, now time.Time) time.Duration {
	if b.perSecond <= 0 {
		return 0
	}
	b.fill(now)
	lacks := min(n, b.most) - b.has
	if lacks <= 1e-9 { // what rounding leaves would be waited for without end
		return 0
	}
	return time.Duration(math.Ceil(lacks / b.perSecond * float64(time.Second)))
}

// spend takes n out, or puts back what is below 0.
func (b *bucket) spend(n float64, now time.Time) {
	if b.perSecond <= 0 {
		return
	}
	b.fill(now)
	b.has = min(b.has-n, b.most)
}

func (b *bucket) full(now time.Time) bool {
	b.fill(now)
	return b.perSecond <= 0 || b.has >= b.most
}
