package repl

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/repl/transcript"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// show writes the value of the last expression.
func (s *session) show() error {
	m := s.ws.Module()
	typ, shown, help, _ := m.Describe(starlib.Last)
	if typ == "" { // None
		return nil
	}
	v, data := m.Value(starlib.Last)
	switch n := m.Node(starlib.Last); {
	case data:
		shown = valueText(v, s.width())
	case n != nil:
		shown = nodeText(n)
	case m.Type(starlib.Last) != nil:
		shown = typeText(m.Type(starlib.Last))
	case typ == "function" || typ == "builtin_function_or_method":
		shown = strings.TrimRight(help, "\n")
	}
	return s.print(shown)
}

// print writes a text; at a terminal, only as much as fits.
func (s *session) print(shown string) error {
	s.rest = ""
	shown = text.Terminal(shown)
	if s.in.interactive() {
		width, rows := s.size()
		if head, rest := screen(shown, width, max(rows-3, 5)); rest != "" {
			s.rest = rest
			n := 0
			for line := range strings.SplitSeq(rest, "\n") {
				n += rowsOf(line, width)
			}
			shown = head + fmt.Sprintf("\n… %d more %s, :more shows them", n, text.Noun(n, "line"))
		}
	}
	return s.c.Print(shown)
}

// screen cuts a text when the rows of a terminal are full: between lines if possible, otherwise within one.
func screen(shown string, width, rows int) (head, rest string) {
	for at := 0; at < len(shown); {
		line, _, _ := strings.Cut(shown[at:], "\n")
		takes := rowsOf(line, width)
		if takes > rows {
			if at == 0 {
				at = len(term.Fit(line, width*rows))
				return shown[:at], shown[at:]
			}
			return strings.TrimSuffix(shown[:at], "\n"), shown[at:]
		}
		rows -= takes
		at += len(line) + 1
	}
	return shown, ""
}

// rowsOf returns the number of terminal rows that a line takes.
func rowsOf(line string, width int) int { return max((term.Cells(line)+width-1)/width, 1) }

// more shows the rest of what was cut.
func (s *session) more(string) error {
	if s.rest == "" {
		return s.print("there is no more")
	}
	return s.print(s.rest)
}

// valueText formats data: records as aligned fields, lists of them as a table, texts of several lines unchanged.
func valueText(v generable.Value, width int) string {
	if str, ok := v.AsStr(); ok {
		if strings.Contains(str, "\n") {
			return strings.TrimRight(str, "\n")
		}
		return text.Quote(str)
	}
	if r, ok := v.AsRecord(); ok {
		return r.Type().Name + "\n" + indent(fieldsText(r, width))
	}
	l, ok := v.AsList()
	if !ok || l.Len() == 0 {
		return longText(v, width)
	}
	first, ok := l.At(0).AsRecord()
	if !ok {
		return longText(v, width)
	}
	rows := make([]*generable.Record, l.Len())
	for i, item := range l.Items() {
		r, ok := item.AsRecord()
		if !ok || r.Type() != first.Type() {
			return longText(v, width)
		}
		rows[i] = r
	}
	return tableText(rows, width)
}

// longText formats a list or dict on one line or, if that is too long, with one entry per line.
func longText(v generable.Value, width int) string {
	line := literal(v)
	if len(line) <= width {
		return line
	}
	var b strings.Builder
	if l, ok := v.AsList(); ok {
		for _, item := range l.Items() {
			b.WriteString("  " + literal(item) + ",\n")
		}
		return "[\n" + b.String() + "]"
	}
	if m, ok := v.AsMap(); ok {
		for i := range m.Len() {
			key, item := m.At(i)
			b.WriteString("  " + text.Quote(key) + ": " + literal(item) + ",\n")
		}
		return "{\n" + b.String() + "}"
	}
	return line
}

// literal returns a value as scripts write it.
func literal(v generable.Value) string {
	written, _ := transcript.Literal(v, nil)
	return written
}

// fieldsText formats the fields of a record, one per line.
func fieldsText(r *generable.Record, width int) string {
	return term.Table(2, func(w io.Writer) {
		for i, f := range r.Type().Fields {
			fmt.Fprintf(w, "%s\t%s\n", f.Name, cell(r.At(i), max(width-len(f.Name)-6, 8)))
		}
	})
}

// tableText formats records of one type.
func tableText(rows []*generable.Record, width int) string {
	fields := rows[0].Type().Fields
	most := max(width/max(len(fields), 1)-2, 8)
	return term.Table(2, func(w io.Writer) {
		for i, f := range fields {
			fmt.Fprint(w, f.Name, ends(i, len(fields)))
		}
		for _, r := range rows {
			for i := range fields {
				fmt.Fprint(w, cell(r.At(i), most), ends(i, len(fields)))
			}
		}
	})
}

func ends(i, n int) string {
	if i == n-1 {
		return "\n"
	}
	return "\t"
}

// cell formats a value on one line.
func cell(v generable.Value, most int) string {
	return term.Clip(literal(v), most)
}

// nodeText formats a node's type, and its parts.
func nodeText(n *flow.Node) string {
	var b strings.Builder
	b.WriteString(signature(n))
	tree(&b, n, "\n")
	return b.String()
}

func tree(b *strings.Builder, n *flow.Node, begin string) {
	kids := n.Children()
	for i, k := range kids {
		branch, below := "├─ ", "│  "
		if i == len(kids)-1 {
			branch, below = "└─ ", "   "
		}
		b.WriteString(begin + branch + signature(k))
		tree(b, k, begin+below)
	}
}

// signature describes a node, with its type.
func signature(n *flow.Node) string {
	label := n.Label()
	if kind := n.Kind().String(); !strings.Contains(label, kind) {
		label = kind + " " + label
	}
	return fmt.Sprintf("%s: %s → %s", label, n.In(), n.Out())
}

// typeText formats a type, and the fields of a schema.
func typeText(t *generable.Type) string {
	if t.Kind != generable.RecordType {
		return t.String()
	}
	return t.String() + "\n" + indent(term.Table(2, func(w io.Writer) {
		for _, f := range t.Fields {
			guide := ""
			if f.Guide != "" {
				guide = "\t" + f.Guide
			}
			fmt.Fprintf(w, "%s\t%s%s\n", f.Name, f.Type, guide)
		}
	}))
}

func indent(lines string) string {
	return "  " + strings.ReplaceAll(lines, "\n", "\n  ")
}
