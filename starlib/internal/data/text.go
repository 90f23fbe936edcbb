package data

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func textRows() []table.Builtin {
	whole := table.Param{Name: "text", Kind: table.StrKind, Doc: "the text"}
	return []table.Builtin{
		{Name: "fmt", Group: table.GroupText, Returns: "str", Effect: table.Pure, Func: fmtFunc, Look: fmtLook,
			Params: []table.Param{{Name: "value", Kind: table.AnyKind, Doc: "a number, a str, or a bool"}, {Name: "spec", Kind: table.StrKind, Default: `""`, Doc: `".1f", ",d", "+.2e", ">10", "05d", ".0%", "x"`}},
			Doc:    "Formats a value according to a specification, as Python's format does: [[fill]align][sign][#][0][width][,][.precision][type]."},
		{Name: "dedent", Group: table.GroupText, Returns: "str", Effect: table.Pure, Params: []table.Param{whole},
			Func: func(c *table.Call) (starlark.Value, error) { return starlark.String(script.Dedent(c.Str("text"))), nil },
			Doc:  "Removes the indentation that all lines share, and blank lines at both ends. Prompts are already dedented."},
		{Name: "indent_lines", Group: table.GroupText, Returns: "str", Effect: table.Pure,
			Params: []table.Param{whole, {Name: "prefix", Kind: table.StrKind, Default: `"    "`, Doc: "the text to put before each line"}},
			Func:   indentFunc, Doc: "Puts a prefix before every line that is not blank."},
		{Name: "split_lines", Group: table.GroupText, Returns: "list[str]", Effect: table.Pure, Params: []table.Param{whole}, Func: splitLinesFunc,
			Doc: "Returns the lines of a text, with surrounding blanks removed and empty lines left out."},
		{Name: "join_lines", Group: table.GroupText, Returns: "str", Effect: table.Pure,
			Params: []table.Param{{Name: "items", Kind: table.ListKind, Doc: "values; those that are not str are converted"}, {Name: "bullet", Kind: table.StrKind, Default: `""`, Doc: `the text to put before each value, such as "- "`}},
			Func:   joinLinesFunc, Doc: "Joins values with newlines."},
		{Name: "strip_fences", Group: table.GroupText, Returns: "str", Effect: table.Pure, Params: []table.Param{whole},
			Func: func(c *table.Call) (starlark.Value, error) { return starlark.String(stripFences(c.Str("text"))), nil },
			Doc:  "Returns the content of the first code fence in a text, or, if it has none, the text with surrounding blanks removed."},
		{Name: "truncate", Group: table.GroupText, Returns: "str", Effect: table.Pure,
			Params: []table.Param{whole, {Name: "length", Kind: table.CountKind, Doc: "the maximum number of characters"}, {Name: "end", Kind: table.StrKind, Default: `"…"`, Doc: "the text that marks the cut; it counts towards the length"}},
			Func:   truncateFunc, Doc: "Shortens a text that is too long."},
	}
}

func indentFunc(c *table.Call) (starlark.Value, error) {
	prefix := c.StrOr("prefix", "    ")
	lines := strings.Split(c.Str("text"), "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = prefix + line
		}
	}
	return starlark.String(strings.Join(lines, "\n")), nil
}

func splitLinesFunc(c *table.Call) (starlark.Value, error) {
	lines := text.Each(strings.Split(c.Str("text"), "\n"), strings.TrimSpace)
	return value.Texts(slices.DeleteFunc(lines, func(line string) bool { return line == "" })), nil
}

func joinLinesFunc(c *table.Call) (starlark.Value, error) {
	var out []string
	for _, item := range c.List("items") {
		line, err := value.PlainText(item)
		if err != nil {
			return nil, err
		}
		out = append(out, c.Str("bullet")+line)
	}
	return starlark.String(strings.Join(out, "\n")), nil
}

// stripFences returns the content of the first code fence of backticks or tildes.
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

// fenceOf returns the run of at least three backticks or tildes at the start of a line.
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

func truncateFunc(c *table.Call) (starlark.Value, error) {
	whole, most, end := c.Str("text"), c.Int("length", 0), c.StrOr("end", "…")
	if utf8.RuneCountInString(whole) <= most {
		return starlark.String(whole), nil
	}
	keep := most - utf8.RuneCountInString(end)
	if keep < 0 {
		keep, end = most, ""
	}
	return starlark.String(string([]rune(whole)[:keep]) + end), nil
}
