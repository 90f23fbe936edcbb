// Package message words what errors say of values: names and lists in short, paths, suggestions.
package message

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// MaxErrors bounds what one value reports: the hundredth line helps nobody.
const MaxErrors = 100

// OneOf lists an enum's values for an error, shortened when there are many.
func OneOf(values []string) string { return "one of " + List(values) }

// List lists names or values for an error, those that are long and the list itself shortened.
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

// MaxShown is how much of a text an error shows.
const MaxShown = 40

// Shorten clips a text that is too long to show.
func Shorten(s string) string { return text.ClipBytes(s, 2*MaxShown) }

// Quote quotes s for an error, cut where it is long.
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
