package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// DidYouMean suggests the nearest name, or "" if none is near.
func DidYouMean(name string, among []string) string { return diag.DidYouMean(name, among) }

// Joined lists words for a message.
func Joined(words []string) string { return strings.Join(words, ", ") }

// mostListed bounds the names in a message.
const mostListed = 30

// Some lists words for a message, only the first ones if there are many.
func Some(words []string) string {
	if len(words) <= mostListed {
		return Joined(words)
	}
	return fmt.Sprintf("%s and %d more", Joined(words[:mostListed]), len(words)-mostListed)
}

// QuotedList formats texts as a list.
func QuotedList(words []string) string {
	return "[" + Joined(text.Each(words, strconv.Quote)) + "]"
}

// Dedent returns the text that a script means by a text of several lines, see [text.Written].
func Dedent(s string) string { return text.Written(s) }

// IsCommandLine reports whether a text that should name a program includes arguments, see [text.IsCommandLine].
func IsCommandLine(s string) bool { return text.IsCommandLine(s) }
