package generable

import (
	"reflect"
	"time"
)

// Durations has time.Duration read and written as a text, 90s or 1h30m, instead of as a number of
// nanoseconds, which nobody writes, models least of all.
func Durations() GoOption { return func(c *goCodec) { c.durations = true } }

var durationType = reflect.TypeFor[time.Duration]()

// durationPattern is what time.ParseDuration reads.
const durationPattern = `^[-+]?(0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`

const durationGuide = `a time such as "90s" or "1h30m"`

func (c *goCodec) duration(t reflect.Type) bool { return c.durations && t == durationType }

func durationText() *Type {
	out, _ := Limited(StrT, Limits{Pattern: durationPattern})
	return out
}

// intoDuration reads a text as a duration.
func (c *goCodec) intoDuration(v Value, dst reflect.Value, at *path) {
	text, ok := v.AsStr()
	d, err := time.ParseDuration(text)
	if !ok || err != nil {
		got := v.TypeName()
		if ok {
			got = quoteShort(text)
		}
		c.bad(at, durationGuide, got, "")
		return
	}
	dst.SetInt(int64(d))
}
