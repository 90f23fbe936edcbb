package text

import (
	"strings"
	"unicode"
)

// Brief returns a text from another party as [Plain] returns it, clipped to 400 characters.
func Brief(s string) string {
	return Clip(strings.ToValidUTF8(Plain(s), ""), 400)
}

// Plain removes control characters, which could move a terminal's cursor or change its colors. Tabs stay.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return -1
		}
		return r
	}, s)
}
