package star

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// quoted writes a text as a literal on one line.
func quoted(s string) string { return `"` + escaped(s, `"`) + `"` }

// escaped escapes what a literal cannot contain, and invisible characters.
func escaped(s, quotes string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '"' && strings.HasPrefix(s[i:], quotes):
			b.WriteString(`\"`)
		case r == '\n' && len(quotes) == 1:
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String()
}

// prose writes a text for a model or a person, to be read through [text.Written]: in triple quotes if it has several
// lines.
func prose(s string) *doc {
	if !strings.Contains(s, "\n") && text.Written(s) == s {
		return atom(quoted(s))
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = escaped(line, `"""`)
	}
	if text.Written("\n"+s) == s {
		return &doc{lines: lines}
	}
	return atom(quoted(s)) // its first line ends with blanks
}

// value writes a value of a bool, an enum or a condition.
func value(v *generable.Value) string {
	p, err := predicate.New(predicate.Eq, "", v)
	if err != nil {
		panic(err) // only for regular expressions
	}
	s := p.String()
	return s[len("eq(") : len(s)-1]
}

// typeText writes a type.
func typeText(t *generable.Type) string {
	switch t.Kind {
	case generable.EnumType:
		return "enum(" + strings.Join(text.Each(t.Values, quoted), ", ") + ")"
	case generable.ListType:
		return "list[" + typeText(t.Elem) + "]"
	}
	return t.String()
}

// float writes a number as a float.
func float(n float64) string {
	s := strconv.FormatFloat(n, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// remark returns a text as lines of a comment, wrapped between words.
func remark(s string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(text.Visible(strings.ReplaceAll(line, "\t", "    ")), " ")
		for len(line) > width-2 {
			at := strings.LastIndexByte(line[:width-2], ' ')
			if at <= 0 || strings.TrimSpace(line[:at]) == "" {
				break
			}
			out, line = append(out, strings.TrimRight(line[:at], " ")), strings.TrimLeft(line[at:], " ")
		}
		out = append(out, line)
	}
	return out
}
