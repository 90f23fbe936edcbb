// Package text holds the rules for the wording of messages: quoting, counting, clipping and comparing texts. It imports
// only the standard library, and every other package may import it.
package text

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Noun returns the form of an English noun that goes with n: "call", "calls", "entries".
func Noun[N int | int64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		return stem + "ries"
	}
	return noun + "s"
}

// Count returns a number with its noun: "0 calls", "1 call", "3 calls".
func Count[N int | int64](n N, noun string) string {
	return strconv.FormatInt(int64(n), 10) + " " + Noun(n, noun)
}

// CountInWords is like Count, but has words for the small numbers: "no calls", "one call", "3 calls".
func CountInWords(n int, noun string) string {
	switch n {
	case 0:
		return "no " + Noun(n, noun)
	case 1:
		return "one " + noun
	}
	return Count(n, noun)
}

// Cut returns at most the first n bytes of s, and does not split a character.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// ClipBytes returns s if it has at most n bytes, else the result of [Cut] with an ellipsis.
func ClipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Cut(s, n) + "…"
}

// Clip returns s if it has at most n characters, else its first n characters with an ellipsis.
//
//go:noinline
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

// ClipWords returns s if it has at most n characters, else as many of its first words as fit, a blank and an ellipsis.
func ClipWords(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	cut := strings.TrimSuffix(Clip(s, max(0, n-2)), "…")
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ") + " …"
}

// ClipMiddle returns s if it has at most n characters, else two thirds of n from its beginning and a third from its
// end.
//
//go:noinline
func ClipMiddle(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n*2/3]) + " … " + string(r[len(r)-n/3:])
}

// Distance returns the number of insertions, deletions and substitutions that turn a into b. With swaps, exchanging two
// neighbors also counts as one edit, and each character is edited at most once.
func Distance[E byte | rune](a, b []E, swaps bool) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d := min(row[j]+1, last[j+1]+1, last[j]+cost)
			if swaps && i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
