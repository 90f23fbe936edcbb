package limiter

import (
	"math"
	"time"
)

// bucket is a token bucket: it fills steadily and holds the amount of a tenth of a minute. An amount larger than its
// capacity is allowed when it is full, and leaves a debt.
type bucket struct {
	perSecond, most float64 // 0: no limit
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

// wait returns how long it takes until n may be spent.
func (b *bucket) wait(n float64, now time.Time) time.Duration {
	if b.perSecond <= 0 {
		return 0
	}
	b.fill(now)
	lacks := min(n, b.most) - b.has
	if lacks <= 1e-9 { // waiting for a rounding error would never end
		return 0
	}
	return time.Duration(math.Ceil(lacks / b.perSecond * float64(time.Second)))
}

// spend takes n out, or returns -n if n is negative.
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
