package message

import (
	"strconv"
	"strings"
)

// Heading is the line above what is said of a name: the name and what it means, or the name and a colon.
func Heading(name, doc string) string {
	if doc == "" {
		return name + ":"
	}
	return Titled(name, doc)
}

// Titled is a name, followed by what it means where that is known.
func Titled(name, doc string) string { return meaning(name, ": ", doc) }

// Dashed is a name, and behind a dash what it means where that is known.
func Dashed(name, doc string) string { return meaning(name, " — ", doc) }

func meaning(name, sign, doc string) string {
	if doc == "" {
		return name
	}
	return name + sign + OneLine(doc)
}

// OneLine joins the lines of a text, for places that have room for one.
func OneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	var parts []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}

// An enum without a name shows at most so many values and bytes of them.
const (
	mostListed      = 6
	mostListedBytes = 120
)

// Quoted lists values in quotes, the first of many.
func Quoted(values []string) string {
	var dst []byte
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if i == mostListed || len(dst)+len(v) > mostListedBytes {
			return string(append(dst, "..."...))
		}
		dst = strconv.AppendQuote(dst, v)
	}
	return string(dst)
}
