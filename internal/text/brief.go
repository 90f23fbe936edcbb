package text

import (
	"strings"
	"unicode"
)

// Brief bounds a text that the other side decides about.
func Brief(s string) string {
	return Clip(strings.ToValidUTF8(Plain(s), ""), 400)
}

// Plain takes out what would move a terminal's cursor or colour it.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return -1
		}
		return r
	}, s)
}
