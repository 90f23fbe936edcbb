package table

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
)

// The kinds of numbers with a restricted range. Errors in them are reported while the arguments are bound, together
// with the other errors of the call.
var (
	// BoundKind takes a bound on how often or how many, which is at least 1.
	BoundKind = LeastKind(1, diag.LoopBound)
	// CountKind takes a count.
	CountKind = Ints(func(p *Param, n int64) []Fault {
		return FaultIf(n < 0, leaveOut(p, "leave it out to set no bound"), "want a count, got %d", n)
	})
	// MendsKind takes the number of times that one failed call is handled.
	MendsKind = Ints(func(_ *Param, n int64) []Fault {
		return FaultIf(n < 1 || n > agent.MaxRecoverySteps, "one call is corrected in at most that many steps", "want 1 to %d, got %d", agent.MaxRecoverySteps, n)
	})
)

// LeastKind takes numbers from a minimum on.
func LeastKind(least int64, code diag.Code) *Kind {
	return Ints(func(p *Param, n int64) []Fault {
		return Coded(code, FaultIf(n < least, leaveOut(p, ""), "want at least %d, got %d", least, n))
	})
}

// leaveOut returns the help if a default would do.
func leaveOut(p *Param, unbounded string) string {
	switch p.Default {
	case "":
		return ""
	case "None":
		return unbounded
	}
	return "leave it out for the default of " + p.Default
}

// CapKind takes a bound of a budget that cannot be 0, and the reason why.
func CapKind(why, help string) *Kind {
	return Ints(func(p *Param, n int64) []Fault {
		if n != 0 {
			return CountKind.vet(p, starlark.MakeInt64(n))
		}
		return Faultf(help, "want at least 1, got 0: %s", why)
	})
}

// RangeKind takes numbers from 0 to a maximum.
func RangeKind(most float64) *Kind {
	return Vetted(FloatKind, func(p *Param, v starlark.Value) []Fault {
		f := FloatOf(v)
		switch {
		case f >= 0 && f <= most:
			return nil
		case most == 1 && f >= 2 && f <= 100:
			return Faultf(fmt.Sprintf("%g of 100 is %g", f, f/100), "want 0 to 1, got %g", f)
		}
		return Faultf(leaveOut(p, ""), "want 0 to %g, got %g", most, f)
	})
}

// FloatOf returns the number that a value of a kind of floats is.
func FloatOf(v starlark.Value) float64 {
	f, _ := v.(starlark.Float)
	return float64(f)
}

// NameKind takes names that are valid in a position in a run: reviewer#1/lookup[2].
var NameKind = Texts(func(p *Param, name string) []Fault {
	bad := strings.IndexFunc(name, func(r rune) bool { return strings.ContainsRune("/#[]", r) || unicode.IsControl(r) })
	switch {
	case bad < 0 && strings.TrimSpace(name) != "":
		return nil
	case bad >= 0:
		r, _ := utf8.DecodeRuneInString(name[bad:])
		return Faultf("names are parts of positions, as in a/b#1[2]: use letters, digits, spaces, - and _", "a name cannot hold %q", r)
	case p.Default != "":
		return Faultf("leave it out for the name of the variable, or pass one", "the name is empty")
	}
	return Faultf("", "the name is empty")
})
