package mcp

import (
	"strings"
	"unicode"

	"github.com/agentscript/agentscript/internal/text"
)

// brief bounds a text that the other side decides about.
func brief(s string) string {
	return text.Clip(strings.ToValidUTF8(plain(s), ""), 400)
}

// plain takes out what would move a terminal's cursor or colour it.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return -1
		}
		return r
	}, s)
}
