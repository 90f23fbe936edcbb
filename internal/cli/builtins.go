package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/docs"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/starlib"
)

func docVerb(c *term.Console) *cobra.Command {
	var llm bool
	cmd := &cobra.Command{
		Use:   "doc [NAME]",
		Short: "Show what a builtin of the language does",
		Long: `Doc describes a builtin: how it is called, what it does, and what its parameters are. NAME may also
be an operator, a kind of value such as node, or a function of Starlark. Without a NAME, it lists
them all. With --llm, it prints the whole language on one page, for models and people who write
flows.`,
		ValidArgsFunction: completeNames(builtinNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case llm && len(args) > 0:
				return term.Usagef("agentscript doc --llm prints the page, agentscript doc NAME one builtin", "--llm takes no NAME")
			case llm:
				return c.Print(docs.LLM)
			}
			table := starlib.Universe()
			if len(args) == 0 {
				return c.Print(builtinList(table))
			}
			var pages []string
			for _, name := range args {
				rows := builtins(table, name)
				if text := answer(table, name, c.TextWidth()); len(rows) == 0 && text != "" {
					pages = append(pages, text)
					continue
				}
				if len(rows) == 0 {
					return unknownBuiltin(table, name)
				}
				for _, b := range rows {
					pages = append(pages, builtinPage(b, table.Example(b.QualifiedName()), c.TextWidth()))
				}
			}
			return c.Print(strings.Join(pages, "\n\n"))
		},
	}
	cmd.Flags().BoolVar(&llm, "llm", false, "print the language on one page (Markdown, at most 16 KiB)")
	return cmd
}

// builtins finds a row by its qualified name, or else all rows whose name ends in it: decode is a method of types and a
// function of json.
func builtins(table *starlib.Table, name string) []*starlib.Builtin {
	if b, ok := table.Lookup(name); ok {
		return []*starlib.Builtin{b}
	}
	var rows []*starlib.Builtin
	for _, b := range table.Rows() {
		if b.Name == name {
			rows = append(rows, b)
		}
	}
	return rows
}

func unknownBuiltin(table *starlib.Table, name string) error {
	names := slices.Sorted(maps.Keys(starlark))
	for _, b := range table.Rows() {
		names = append(names, b.QualifiedName())
		if b.Of != "" {
			names = append(names, b.Name)
		}
	}
	if e, ok := diag.Lookup(name); ok {
		return term.Usagef("it is the code of a diagnostic: agentscript explain "+string(e.Code), "there is no builtin %q", name)
	}
	return term.Usagef(cmp.Or(diag.DidYouMean(name, names), "agentscript doc without a name lists all"), "there is no builtin %q", name)
}

func builtinList(table *starlib.Table) string {
	return term.Table(3, func(w io.Writer) {
		end := ""
		for group, rows := range table.Grouped() {
			fmt.Fprint(w, end, group, "\n")
			end = "\n"
			for _, row := range rows {
				fmt.Fprintf(w, "  %s\t%s\n", row.QualifiedName(), row.Summary())
			}
		}
	})
}

func builtinPage(row *starlib.Builtin, example string, width int) string {
	var b strings.Builder
	b.WriteString(row.Declared())
	b.WriteString("\n\n" + wrap(row.Doc, width) + "\n")
	if example != "" {
		b.WriteString("\n  " + example + "\n")
	}
	b.WriteString("\n" + term.Table(3, func(w io.Writer) {
		for _, p := range row.Params {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Name, p.Kind.Word, p.Doc)
		}
	}))
	return strings.TrimRight(b.String(), "\n")
}

// operators maps operators to the builtins they stand for.
var operators = map[string]struct{ row, text string }{
	">>": {"then", "`a >> b` is then(a, b)"},
	"/":  {"par", "`a / b` is par(a, b)"},
	"*":  {"forum", "`a * b` is forum(a, b), the last being the captain"},
	"|":  {"union", "`A | B` is the type of what is an A or a B; `T | None` is an optional T"},
}

// starlark describes the functions of the underlying Starlark language.
var starlark = map[string]string{
	"abs":       "abs(x): the absolute value of a number",
	"all":       "all(xs): whether every element is true",
	"bytes":     "bytes(x): bytes of a str or of a list of ints",
	"chr":       "chr(n): the str of one code point",
	"dir":       "dir(x): the names of a value's attributes and methods",
	"enumerate": "enumerate(xs, start = 0): a list of pairs (index, element)",
	"getattr":   "getattr(x, name, default): a value's attribute by name",
	"hasattr":   "hasattr(x, name): whether a value has an attribute",
	"hash":      "hash(s): an int that is the same for equal strs",
	"len":       "len(x): the number of elements of a list, dict, set or tuple, of bytes in a str",
	"max":       "max(xs, key = f): the greatest element; also max(a, b, ...)",
	"min":       "min(xs, key = f): the least element; also min(a, b, ...)",
	"ord":       "ord(s): the code point of a str of one",
	"range":     "range(stop), range(start, stop, step): whole numbers in order",
	"repr":      "repr(x): the value as it is written in a script",
	"reversed":  "reversed(xs): a list in the other order",
	"set":       "set(xs): the distinct elements",
	"sorted":    "sorted(xs, key = f, reverse = False): a new list in order",
	"tuple":     "tuple(xs): an immutable sequence",
	"type":      "type(x): the name of a value's kind, a str",
	"zip":       "zip(xs, ys, ...): a list of tuples of elements at the same index",
}

// answer describes a word that is not a row of the table: an operator, a kind of value, or a function of Starlark
// itself. It returns "" for an unknown word.
func answer(table *starlib.Table, word string, width int) string {
	if op, ok := operators[word]; ok {
		b, _ := table.Lookup(op.row)
		return op.text + "\n\n" + builtinPage(b, table.Example(b.QualifiedName()), width)
	}
	if text, ok := starlark[word]; ok {
		return text + "\n\nIt is a function of Starlark itself, as are str, list and dict methods."
	}
	if word == "" {
		return ""
	}
	var makers, methods []string
	for _, b := range table.Rows() {
		switch {
		case b.Of == word:
			methods = append(methods, "  "+b.Signature()+"\n      "+b.Summary())
		case b.Of == "" && b.Returns == word:
			makers = append(makers, b.Name)
		}
	}
	result, known := table.Result(word)
	if len(makers)+len(methods) == 0 && !known {
		return ""
	}
	text := "`" + word + "` is a kind of value."
	if len(makers) > 0 {
		text += "\n\n" + wrap("It is made by "+strings.Join(makers, ", ")+".", width)
	}
	if known {
		text += "\n\n" + wrap(result.Doc+". Its members:", width) + "\n\n" + term.Table(3, func(w io.Writer) {
			for i := range result.Fields {
				fmt.Fprintf(w, "  .%s\t%s\t%s\n", result.Fields[i].Name, result.Fields[i].Type, result.Fields[i].Guide)
			}
		})
	}
	if len(methods) > 0 {
		text += "\n\nIts methods:\n\n" + strings.Join(methods, "\n")
	}
	return text
}
