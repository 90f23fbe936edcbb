// Package units defines what budgets count, and formats amounts of it for people.
package units

import (
	"fmt"
	"math"
	"strconv"

	"github.com/agentscript/agentscript/internal/text"
)

// Resource indexes the counters of a budget. Records of races hold counters in this order, so new ones must be added
// last.
type Resource int

// The resources that budgets limit.
const (
	ModelCalls Resource = iota
	ToolCalls
	Tokens
	Steps
	Turns
	USD       // in billionths of a dollar
	Resources // the number of resources
)

var names = [Resources]string{"model call", "tool call", "token", "script step", "turn", "dollar"}

// Args are the names of the resources as arguments of budget(...).
var Args = [Resources]string{"model_calls", "tool_calls", "tokens", "steps", "turns", "usd"}

// Add adds counts, which must not be negative. A sum that overflows stays at the maximum, so that a used-up budget
// remains used up.
func Add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// InCount converts an amount for people to the unit that budgets count.
func InCount(x float64, r Resource) int64 {
	if r == USD {
		return Nanos(x)
	}
	return int64(x)
}

// InUnits converts a budget's count to an amount for people: money in US dollars.
func InUnits(n int64, r Resource) float64 {
	if r == USD {
		return float64(n) / PerDollar
	}
	return float64(n)
}

// AmountIn formats an amount for people as a number, money with its sign.
func AmountIn(x float64, r Resource) string {
	if r == USD {
		return Of(Nanos(x), r)
	}
	return fmt.Sprintf("%.0f", x)
}

// PerDollar is how many units of counted money make a dollar.
const PerDollar = 1e9

// Nanos converts US dollars to the unit that money is counted in, rounded up.
func Nanos(usd float64) int64 {
	switch n := math.Ceil(usd * PerDollar); {
	case !(n > 0): // including NaN
		return 0
	case n >= math.MaxInt64:
		return math.MaxInt64
	default:
		return int64(n)
	}
}

// Of formats an amount of a resource for people: "15 tokens", "$0.50".
func Of(n int64, r Resource) string {
	if r == USD {
		usd := strconv.FormatFloat(float64(n)/PerDollar, 'f', -1, 64)
		if n%1e7 == 0 {
			usd = fmt.Sprintf("%.2f", float64(n)/PerDollar)
		}
		return "$" + usd
	}
	return text.Count(n, names[r])
}
