package predicate

import (
	"math"
	"math/big"
	"strings"
	"sync"
	"unicode"

	"github.com/agentscript/agentscript/generable"
)

// twins returns the int and the float that equal a number, and reports whether both exist: 42 and 42.0.
func twins(v generable.Value) (whole, float generable.Value, both bool) {
	if f, ok := v.AsFloat(); ok {
		if f != math.Trunc(f) {
			return v, v, false
		}
		i, _ := big.NewFloat(f).Int(nil)
		return generable.BigOf(i), v, true
	}
	i, ok := v.AsBig()
	if !ok {
		return v, v, false
	}
	f, accuracy := new(big.Float).SetInt(i).Float64()
	float, ok = generable.FloatOf(f)
	return v, float, ok && accuracy == big.Exact
}

// capitals maps a character to the other characters whose lower case it is.
var capitals = sync.OnceValue(func() map[rune][]rune {
	out := map[rune][]rune{}
	for _, r := range unicode.CaseRanges {
		for c := rune(r.Lo); c <= rune(r.Hi); c++ {
			if low := unicode.ToLower(c); low != c {
				out[low] = append(out[low], c)
			}
		}
	}
	return out
})

// spelledBy reports whether n different texts that are s in lower case are all such texts.
func spelledBy(s string, n int) bool {
	spellings := 1
	for _, r := range s {
		if spellings *= 1 + len(capitals()[r]); spellings > n {
			return false
		}
	}
	return spellings <= n
}

// lowered returns a text in lower case, as folded comparisons use it.
func lowered(v generable.Value) string {
	s, _ := v.AsStr()
	return strings.ToLower(s)
}
