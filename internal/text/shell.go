package text

import (
	"slices"
	"strings"
)

// ShellWord quotes a word for a shell if necessary.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:=@%+,~", r)
	}
	if s == "" || strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// IsCommandLine reports whether a text that should name a program also has arguments. A path may contain blanks, but
// none of its words is an option, a package or a URL.
func IsCommandLine(text string) bool {
	words := strings.Fields(text)
	if len(words) < 2 {
		return strings.ContainsAny(text, " \t\x00")
	}
	return !strings.ContainsAny(text, `/\`) || !strings.ContainsAny(words[0], `/\`) && slices.ContainsFunc(words[1:], func(word string) bool {
		return strings.HasPrefix(word, "-") || strings.HasPrefix(word, "@") || strings.Contains(word, "://")
	})
}
