package text

import (
	"iter"
	"strings"
)

// Words yields the words of a text with their numbers. Each word includes the blank or line end after it.
func Words(s string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for n := 0; s != ""; n++ {
			cut := len(s)
			if i := strings.IndexAny(s, " \n"); i >= 0 {
				cut = i + 1
			}
			if !yield(n, s[:cut]) {
				return
			}
			s = s[cut:]
		}
	}
}

// Each returns the results of calling of for each item of a list, such as the items' names.
//
//go:noinline
func Each[T, R any](list []T, of func(T) R) []R {
	out := make([]R, len(list))
	for i, item := range list {
		out[i] = of(item)
	}
	return out
}

// Lines returns the lines of a text without their ends, which are \n, \r\n or a lone \r, as for the Starlark scanner. A
// line end at the end of the text adds an empty last line.
func Lines(s string) []string {
	return strings.Split(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "\n")
}
