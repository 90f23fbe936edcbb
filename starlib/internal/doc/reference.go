package doc

import (
	"fmt"
	"iter"
	"strings"

	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/starlib/internal/table"
)

// Reference returns the Markdown page of the table's builtins.
func Reference(t *table.Table) string {
	var out strings.Builder
	out.WriteString(referenceHead)
	for g, rows := range Grouped(t) {
		fmt.Fprintf(&out, "\n## %s\n", g)
		of := ""
		for _, b := range rows {
			if b.Of != of {
				of = b.Of
				if of != "" {
					fmt.Fprintf(&out, "\n### %s\n", methodsHeading(of))
				}
			}
			reference(b, &out)
		}
	}
	referResults(t, &out)
	return out.String()
}

const referenceHead = `# Language reference

Scripts are [Starlark](https://github.com/bazelbuild/starlark/blob/master/spec.md) with ` + "`while`" + `, sets, recursion and statements at the top level.
This page lists what agentscript adds to it. It is generated from the table that defines the builtins.

A parameter before ` + "`/`" + ` is passed by position only, one after ` + "`*`" + ` by keyword only; all others either way.
Below each signature is an example; the comment after ` + "`#`" + ` is its value. In the examples ` + "`Draft`" + ` is a schema with a title and a
score, ` + "`Good`" + ` and ` + "`Bad`" + ` are the variants of a verdict, and ` + "`writer`" + `, ` + "`critic`" + `, ` + "`judge`" + ` and others are nodes.
`

// Grouped returns the groups in the order of the reference, each with its rows: functions first, then
// methods and members by what they belong to.
func Grouped(t *table.Table) iter.Seq2[table.Group, []*table.Builtin] {
	return func(yield func(table.Group, []*table.Builtin) bool) {
		for _, g := range table.GroupOrder {
			if rows := group(t, g); len(rows) > 0 && !yield(g, rows) {
				return
			}
		}
	}
}

// group lists the rows of a group: functions first, then methods and members by what they
// belong to.
func group(t *table.Table, g table.Group) []*table.Builtin {
	of := map[string]int{"": 0}
	var rows []*table.Builtin
	for _, b := range t.Rows() {
		if b.Group != g {
			continue
		}
		if _, known := of[b.Of]; !known {
			of[b.Of] = len(of)
		}
		rows = append(rows, b)
	}
	sorting.By(rows, func(a, b *table.Builtin) int { return of[a.Of] - of[b.Of] })
	return rows
}

func methodsHeading(of string) string {
	switch of {
	case "type":
		return "Methods of types"
	case "node":
		return "Methods of nodes"
	case "stream":
		return "Methods of streams"
	case "partial":
		return "Methods of partial values"
	case "t":
		return "Methods of t, which a test is called with"
	}
	return "Members of " + of
}

func reference(b *table.Builtin, out *strings.Builder) {
	fmt.Fprintf(out, "\n#### `%s`\n\n", b.QualifiedName())
	if b.Returns == "module" {
		fmt.Fprintf(out, "A module. %s\n\n```python\n%s\n```\n", b.Doc, Example(b.QualifiedName()))
		return
	}
	fmt.Fprintf(out, "```python\n%s\n```\n\n%s\n", b.Declared(), b.Doc)
	if example := Example(b.QualifiedName()); example != "" {
		fmt.Fprintf(out, "\n```python\n%s\n```\n", example)
	}
	if f := b.InRun; f != nil {
		fmt.Fprintf(out, "\nIn a running function, it makes calls:\n\n```python\n%s -> %s\n```\n\n%s\n", f.Signature(), f.Returns, f.Doc)
	}
	switch b.Effect {
	case table.Reads:
		out.WriteString("\nReads files of the script.\n")
	case table.Logs:
		out.WriteString("\nWrites to the log.\n")
	case table.Recorded:
		if b.Group == table.GroupTests {
			break
		}
		out.WriteString("\nThe answer is recorded with the run.\n")
	}
	if len(b.Params) == 0 {
		return
	}
	out.WriteString("\n| parameter | takes | default | |\n|---|---|---|---|\n")
	for i := range b.Params {
		p := &b.Params[i]
		def := ""
		if p.Default != "" {
			def = "`" + p.Default + "`"
		}
		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", shown(p), cell(p.Kind.Word), cell(def), cell(p.Doc))
	}
}

// cell escapes a text for a cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " ")
}
