package starlib

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// The kinds of numbers of which not every one makes sense. What is wrong with one is said while the
// arguments are bound, together with all else that is wrong with the call.
var (
	// boundKind takes what bounds something: how often, how many. Nothing is within less than 1.
	boundKind = leastKind(1, diag.LoopBound)
	// countKind takes a count.
	countKind = vetted(IntKind, func(p *Param, v starlark.Value) []fault {
		if n := intOf(v); n < 0 {
			return wrong(leaveOut(p, "leave it out where nothing is to be bounded"), "want a count, got %d", n)
		}
		return nil
	})
	// mendsKind takes how often something is done about one call.
	mendsKind = vetted(IntKind, func(_ *Param, v starlark.Value) []fault {
		if n := intOf(v); n < 1 || n > engine.MaxMends {
			return wrong("one call is mended in so many steps at most", "want 1 to %d, got %d", engine.MaxMends, n)
		}
		return nil
	})
)

// leastKind takes numbers from a least one on.
func leastKind(least int64, code diag.Code) Kind {
	return vetted(IntKind, func(p *Param, v starlark.Value) []fault {
		n := intOf(v)
		if n >= least {
			return nil
		}
		found := wrong(leaveOut(p, ""), "want at least %d, got %d", least, n)
		found[0].code = code
		return found
	})
}

// leaveOut is what helps where a default would do.
func leaveOut(p *Param, unbounded string) string {
	switch p.Default {
	case "":
		return ""
	case "None":
		return unbounded
	}
	return "leave it out for the default of " + p.Default
}

// capKind takes a bound of a budget that cannot be 0, for a reason.
func capKind(why, help string) Kind {
	return vetted(IntKind, func(p *Param, v starlark.Value) []fault {
		if n := intOf(v); n != 0 {
			return countKind.vet(p, v)
		}
		return wrong(help, "want at least 1, got 0: %s", why)
	})
}

// rangeKind takes numbers from 0 to a greatest one.
func rangeKind(most float64) Kind {
	return vetted(FloatKind, func(p *Param, v starlark.Value) []fault {
		f := floatOf(v)
		switch {
		case f >= 0 && f <= most:
			return nil
		case most == 1 && f >= 2 && f <= 100:
			return wrong(fmt.Sprintf("%g of 100 is %g", f, f/100), "want 0 to 1, got %g", f)
		}
		return wrong(leaveOut(p, ""), "want 0 to %g, got %g", most, f)
	})
}

// intOf is a number of a kind that takes int.
func intOf(v starlark.Value) int64 {
	i, _ := v.(starlark.Int)
	n, _ := i.Int64()
	return n
}

// floatOf is a number of a kind that takes float.
func floatOf(v starlark.Value) float64 {
	f, _ := v.(starlark.Float)
	return float64(f)
}
