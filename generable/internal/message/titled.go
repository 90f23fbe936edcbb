package message

import (
	"strconv"
	"strings"
)

// Heading returns the line above the description of a name: the name and its meaning, or the name and a colon.
func Heading(name, doc string) string {
	if doc == "" {
		return name + ":"
	}
	return Titled(name, doc)
}

// Titled returns a name, followed by its meaning if that is known.
func Titled(name, doc string) string { return meaning(name, ": ", doc) }

// Dashed returns a name, followed by a dash and its meaning if that is known.
func Dashed(name, doc string) string { return meaning(name, " — ", doc) }

func meaning(name, sign, doc string) string {
	if doc == "" {
		return name
	}
	return name + sign + OneLine(doc)
}

// OneLine joins the lines of a text, for places with room for a single line.
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

// An enum without a name shows at most this many values and bytes.
const (
	mostListed      = 6
	mostListedBytes = 120
)

// Quoted lists values in quotes, cut after the first ones if there are many.
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
