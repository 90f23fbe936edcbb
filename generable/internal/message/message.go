// Package message formats what errors say about values: shortened names and lists, paths, suggestions.
package message

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// MaxErrors bounds what is reported about one value: the hundredth line does not help.
const MaxErrors = 100

// OneOf lists an enum's values for an error, shortened if there are many.
func OneOf(values []string) string { return "one of " + List(values) }

// List lists names or values for an error. It shortens long ones and the list itself.
func List(names []string) string { return Listing(names, 12, Shorten) }

// Listing shows the first items of a list and how many more there are.
func Listing[T any](items []T, most int, show func(T) string) string {
	list := strings.Join(text.Each(items[:min(len(items), most)], show), ", ")
	if n := len(items) - most; n > 0 {
		list += " and " + strconv.Itoa(n) + " more"
	}
	return list
}

func Hints(hints ...string) string {
	return strings.Join(slices.DeleteFunc(hints, func(h string) bool { return h == "" }), "; ")
}

// Number writes a number the way a person would: 0, 1, 0.5.
func Number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// MaxShown is how many characters of a text an error shows.
const MaxShown = 40

// Shorten clips a text that is too long to show.
func Shorten(s string) string { return text.ClipBytes(s, 2*MaxShown) }

// Quote quotes s for an error, cut if it is long.
func Quote(s string) string {
	n := 0
	for i := range s {
		if n++; n > MaxShown {
			s = s[:i] + "…"
			break
		}
	}
	return text.Quote(s)
}
