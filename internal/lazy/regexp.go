// Package lazy makes what a program needs rarely when it is first asked for.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns a regular expression, which is compiled at the first call. It panics then if
// the expression is malformed.
//
//go:noinline
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
