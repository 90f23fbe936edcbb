package table

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/internal/lazy"
)

// TimeKind takes a duration: "90s", or a number of seconds.
var TimeKind = TimeUpTo(0, "")

// longestTime is about thirty years, more than any wait.
const longestTime = 1e9

// TimeUpTo takes a duration up to a maximum; 0 means no maximum.
func TimeUpTo(most time.Duration, atMost string) *Kind {
	return Vetted(AnyOf(StrKind, FloatKind), func(_ *Param, v starlark.Value) []Fault {
		d, ok := timeOf(v)
		switch {
		case ok && d > 0 && (most == 0 || d <= most):
			return nil
		case ok && d > 0:
			return Faultf("", "want %s at most, got %s", atMost, v)
		}
		if text, ok := v.(starlark.String); ok {
			return Faultf(timeHelp(string(text), "above 0"), `want a time such as "90s" or "2m", got %s`, v)
		}
		return Faultf(`leave it out, or write a time such as "90s"`, "want a number of seconds above 0, got %v", FloatOf(v))
	})
}

// WaitUpTo takes a time to wait, which may be 0.
func WaitUpTo(most time.Duration, atMost string) *Kind {
	return Vetted(AnyOf(StrKind, FloatKind), func(_ *Param, v starlark.Value) []Fault {
		text, written := v.(starlark.String)
		switch d, ok := timeOf(v); {
		case ok && d > most, !written && FloatOf(v) > longestTime:
			return Faultf("", "want %s at most, got %s", atMost, v)
		case ok && d >= 0:
			return nil
		case written:
			return Faultf(timeHelp(string(text), "0 or more"), `want a time such as "90s" or "2m", got %s`, v)
		}
		return Faultf(`write a time such as "90s", or a number of seconds`, "want a number of seconds from 0 on, got %v", FloatOf(v))
	})
}

// timeOf reads a duration.
func timeOf(v starlark.Value) (time.Duration, bool) {
	switch w := v.(type) {
	case starlark.String:
		d, err := time.ParseDuration(string(w))
		return d, err == nil
	case starlark.Float:
		return time.Duration(float64(w) * float64(time.Second)), w >= 0 && w <= longestTime
	}
	return 0, false
}

// Duration returns a duration argument, or 0 if it was not given.
func (c *Call) Duration(name string) time.Duration {
	d, _ := timeOf(c.Arg(name))
	return d
}

// writtenTime matches a duration as people write it: 5, 5 minutes, 2 h.
var writtenTime = lazy.Regexp(`^\s*(\d+(?:\.\d+)?)\s*(?:(s)|(m)|(h)|)(?:ec|ecs|econd|econds|in|ins|inute|inutes|r|rs|our|ours|)\s*$`)

// timeHelp says how to write a duration, and its allowed range.
func timeHelp(text, within string) string {
	m := writtenTime().FindStringSubmatch(strings.ToLower(text))
	if m == nil || strings.Trim(m[1], "0.") == "" {
		return "a time is a number followed by s, m or h, or a number of seconds without quotes; it is " + within
	}
	return fmt.Sprintf("write %q", m[1]+cmp.Or(m[2]+m[3]+m[4], "s"))
}
