package starlib

import (
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

func textRows() []Builtin {
	text := Param{Name: "text", Kind: StrKind, Doc: "the text"}
	return []Builtin{
		{Name: "fmt", Group: GroupText, Returns: "str", Effect: Pure, Func: fmtFunc,
			Params: []Param{{Name: "value", Kind: AnyKind, Doc: "a number, a str, or a bool"}, {Name: "spec", Kind: StrKind, Default: `""`, Doc: `".1f", ",d", "+.2e", ">10", "05d", ".0%", "x"`}},
			Doc:    "Formats a value by a specification: [[fill]align][sign][#][0][width][,][.precision][type], as Python's format does."},
		{Name: "dedent", Group: GroupText, Returns: "str", Effect: Pure, Params: []Param{text},
			Func: func(c *Call) (starlark.Value, error) { return starlark.String(dedent(c.Str("text"))), nil },
			Doc:  "Takes away the indentation that all lines have in common, and blank lines at both ends. Prompts are dedented already."},
		{Name: "indent_lines", Group: GroupText, Returns: "str", Effect: Pure,
			Params: []Param{text, {Name: "prefix", Kind: StrKind, Default: `"    "`, Doc: "what to put in front"}},
			Func:   indentFunc, Doc: "Puts a prefix in front of every line that is not blank."},
		{Name: "split_lines", Group: GroupText, Returns: "list[str]", Effect: Pure, Params: []Param{text}, Func: splitLinesFunc,
			Doc: "Gives the lines of a text, without blanks around them and without empty ones."},
		{Name: "join_lines", Group: GroupText, Returns: "str", Effect: Pure,
			Params: []Param{{Name: "items", Kind: ListKind, Doc: "values; what is no str is converted"}, {Name: "bullet", Kind: StrKind, Default: `""`, Doc: `what to put in front of each, such as "- "`}},
			Func:   joinLinesFunc, Doc: "Joins values by line ends."},
		{Name: "strip_fences", Group: GroupText, Returns: "str", Effect: Pure, Params: []Param{text},
			Func: func(c *Call) (starlark.Value, error) { return starlark.String(stripFences(c.Str("text"))), nil },
			Doc:  "Gives what is inside the first code fence of a text, or the text without blanks around it when there is none."},
		{Name: "truncate", Group: GroupText, Returns: "str", Effect: Pure,
			Params: []Param{text, {Name: "length", Kind: countKind, Doc: "the most characters"}, {Name: "end", Kind: StrKind, Default: `"…"`, Doc: "what marks the cut; it counts"}},
			Func:   truncateFunc, Doc: "Cuts a text that is too long."},
	}
}

// dedent takes away common indentation and blank lines at both ends. Lines keep what they
// are indented more; blank lines do not count.
func dedent(s string) string {
	if !strings.Contains(s, "\n") {
		return strings.TrimSpace(s)
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	margin, first := "", true
	for i, line := range lines {
		body := strings.TrimLeft(line, " \t")
		if body == "" {
			lines[i] = ""
			continue
		}
		if i == 0 {
			continue // stands right behind the quotes
		}
		lead := line[:len(line)-len(body)]
		if first {
			margin, first = lead, false
			continue
		}
		n := 0
		for n < len(margin) && n < len(lead) && margin[n] == lead[n] {
			n++
		}
		margin = margin[:n]
	}
	for i, line := range lines {
		if i == 0 {
			lines[i] = strings.TrimLeft(line, " \t")
			continue
		}
		lines[i] = strings.TrimRight(strings.TrimPrefix(line, margin), " \t")
	}
	return strings.TrimRight(strings.TrimLeft(strings.Join(lines, "\n"), "\n"), "\n \t")
}

func indentFunc(c *Call) (starlark.Value, error) {
	prefix := "    "
	if c.Has("prefix") {
		prefix = c.Str("prefix")
	}
	lines := strings.Split(c.Str("text"), "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = prefix + line
		}
	}
	return starlark.String(strings.Join(lines, "\n")), nil
}

func splitLinesFunc(c *Call) (starlark.Value, error) {
	var out []starlark.Value
	for line := range strings.Lines(c.Str("text")) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, starlark.String(line))
		}
	}
	return starlark.NewList(out), nil
}

func joinLinesFunc(c *Call) (starlark.Value, error) {
	var out []string
	for item := range c.items("items") {
		text, err := plain(item)
		if err != nil {
			return nil, err
		}
		out = append(out, c.Str("bullet")+text)
	}
	return starlark.String(strings.Join(out, "\n")), nil
}

// stripFences gives the content of the first code fence of backticks or tildes.
func stripFences(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		fence := fenceOf(line)
		if fence == "" {
			continue
		}
		for j := i + 1; j < len(lines); j++ {
			end := strings.TrimSpace(lines[j])
			if strings.HasPrefix(end, fence) && strings.Trim(end, fence[:1]) == "" {
				return strings.Join(lines[i+1:j], "\n")
			}
		}
		return strings.TrimRight(strings.Join(lines[i+1:], "\n"), "\n")
	}
	return strings.TrimSpace(s)
}

// fenceOf is the run of at least three backticks or tildes that a line begins with.
func fenceOf(line string) string {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

func truncateFunc(c *Call) (starlark.Value, error) {
	text, most, end := c.Str("text"), c.Int("length", 0), "…"
	if c.Has("end") {
		end = c.Str("end")
	}
	if utf8.RuneCountInString(text) <= most {
		return starlark.String(text), nil
	}
	keep := most - utf8.RuneCountInString(end)
	if keep < 0 {
		keep, end = most, ""
	}
	return starlark.String(string([]rune(text)[:keep]) + end), nil
}
