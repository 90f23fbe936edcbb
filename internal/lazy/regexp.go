// Package lazy creates rarely needed values on first use.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns a regular expression. The first call compiles it, and panics if the expression
// is malformed.
//
//go:noinline
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
