package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

func (c *command) docVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "doc [NAME]",
		Short: "Show what a builtin of the language does",
		Long:  "Doc shows a builtin: how it is called, what it does, what its parameters are. NAME may also be an operator, a kind of value such as node, or a function of Starlark. Without a NAME it lists all.",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			table := starlib.Universe()
			if len(args) == 0 {
				return c.print(builtinList(table))
			}
			var pages []string
			for _, name := range args {
				rows := builtins(table, name)
				if text := answer(table, name, c.textWidth()); len(rows) == 0 && text != "" {
					pages = append(pages, text)
					continue
				}
				if len(rows) == 0 {
					return unknownBuiltin(table, name)
				}
				for _, b := range rows {
					pages = append(pages, builtinPage(b, c.textWidth()))
				}
			}
			return c.print(strings.Join(pages, "\n\n"))
		},
	}
}

// builtins finds a row by its whole name, else all rows that end in it: decode is a method of
// types and a function of json.
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
	help := diag.DidYouMean(name, names)
	if help == "" {
		help = "agentscript doc without a name lists all"
	}
	return usagef(help, "there is no builtin %q", name)
}

func builtinList(table *starlib.Table) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	first := true
	for group, rows := range table.Grouped() {
		if !first {
			fmt.Fprintln(w)
		}
		first = false
		fmt.Fprintln(w, group)
		for _, row := range rows {
			fmt.Fprintf(w, "  %s\t%s\n", row.QualifiedName(), row.Summary())
		}
	}
	_ = w.Flush() // a Builder takes everything
	return strings.TrimRight(b.String(), "\n")
}

func builtinPage(row *starlib.Builtin, width int) string {
	var b strings.Builder
	b.WriteString(row.Signature())
	if row.Returns != "" {
		b.WriteString(" -> " + row.Returns)
	}
	b.WriteString("\n\n" + wrap(row.Doc, width) + "\n")
	if len(row.Params) > 0 {
		b.WriteString("\n")
		w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		for _, p := range row.Params {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Name, p.Kind.Word, p.Doc)
		}
		_ = w.Flush() // a Builder takes everything
	}
	return strings.TrimRight(b.String(), "\n")
}
