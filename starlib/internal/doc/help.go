package doc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
)

// Help returns the text that help() prints about a value of the language; for nil, the list of all builtins.
func Help(t *table.Table, v starlark.Value) string {
	switch v := v.(type) {
	case nil, starlark.NoneType:
		return overview(t)
	case starlark.String:
		if b, ok := t.Lookup(string(v)); ok {
			return help(b)
		}
		if r, ok := Result(string(v)); ok {
			return helpResult(r)
		}
		var names []string
		for _, b := range t.Rows() {
			names = append(names, b.QualifiedName())
		}
		if hint := script.DidYouMean(string(v), names); hint != "" {
			return fmt.Sprintf("there is no builtin %q; %s", string(v), hint)
		}
		return "str: text. Methods: " + script.Joined(v.AttrNames())
	case *starlark.Builtin:
		if b, ok := t.Lookup(v.Name()); ok && b.IsMember() {
			return help(b)
		}
		var named *table.Builtin // the first with that name, preferably one that is called as v is
		for _, b := range t.Rows() {
			if b.Name == v.Name() && (b.Of == "") == (v.Receiver() == nil) && !b.IsMember() {
				return help(b)
			} else if b.Name == v.Name() && named == nil {
				named = b
			}
		}
		if named != nil {
			return help(named)
		}
		return "builtin " + v.Name()
	case *value.Maker:
		return Help(t, v.Builtin)
	case *value.Type:
		if v.Func != nil {
			if b, ok := t.Lookup(v.Func.Name()); ok {
				return help(b)
			}
		}
		return "type " + v.String() + "\n\n" + v.T.LLMDescription()
	case *value.Node:
		return helpNode(v)
	case *starlark.Function:
		return helpFunction(v)
	case *value.Record:
		return "instance of " + v.Type() + "\n\n" + v.Record.Type().LLMDescription()
	case *table.ModuleValue:
		var lines []string
		for _, name := range v.AttrNames() {
			lines = append(lines, line(v.Members[name]))
		}
		return "module " + v.Name + "\n\n" + strings.Join(lines, "\n")
	case starlark.HasAttrs:
		return v.Type() + ". Attributes: " + script.Joined(v.AttrNames())
	}
	return v.Type()
}

func line(b *table.Builtin) string {
	return fmt.Sprintf("  %-16s %s", b.QualifiedName(), b.Summary())
}

func overview(t *table.Table) string {
	var out strings.Builder
	for g, rows := range Grouped(t) {
		rows = slices.DeleteFunc(rows, func(b *table.Builtin) bool { return b.Of != "" })
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s\n", g)
		for _, b := range rows {
			out.WriteString(line(b) + "\n")
		}
		out.WriteByte('\n')
	}
	return out.String() + "help(x) prints more about x."
}

// help returns the help of one row.
func help(b *table.Builtin) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n%s\n", b.Declared(), b.Doc)
	if example := Example(b.QualifiedName()); example != "" {
		out.WriteString("\n  " + example + "\n")
	}
	if len(b.Params) > 0 {
		out.WriteString("\n")
	}
	for i := range b.Params {
		p := &b.Params[i]
		fmt.Fprintf(&out, "  %s (%s", shown(p), p.Kind.Word)
		if p.Default != "" {
			fmt.Fprintf(&out, ", default %s", p.Default)
		}
		fmt.Fprintf(&out, "): %s\n", p.Doc)
	}
	if b.InRun != nil {
		out.WriteString("\nIn a running function:\n" + help(b.InRun))
	}
	return strings.TrimRight(out.String(), "\n")
}

// shown returns the parameter's name with its stars.
func shown(p *table.Param) string {
	switch p.Shape {
	case table.Variadic:
		return "*" + p.Name
	case table.Keywords:
		return "**" + p.Name
	}
	return p.Name
}

func helpNode(v *value.Node) string {
	var out strings.Builder
	out.WriteString(nodeLine(v.Node))
	if a := v.Node.Agent(); a != nil {
		helpAgent(&out, a)
	}
	rest := mostParts
	helpParts(&out, v.Node, "\n  ", &rest)
	return out.String()
}

// mostParts bounds the parts of a node that are described.
const mostParts = 200

func helpParts(out *strings.Builder, n *flow.Node, indent string, rest *int) {
	for _, k := range n.Children() {
		if *rest--; *rest < 0 {
			if *rest == -1 {
				out.WriteString(indent + "…")
			}
			return
		}
		out.WriteString(indent + nodeLine(k))
		helpParts(out, k, indent+"  ", rest)
	}
}

// nodeLine describes a node: what it is, its input and output, and where it was made.
func nodeLine(n *flow.Node) string {
	line := n.Kind().String()
	if label := n.Label(); label != line {
		line += " " + label
	}
	line += fmt.Sprintf(": %s -> %s", n.In(), n.Out())
	if p := n.Pos(); p.IsValid() {
		line += "  (" + p.String() + ")"
	}
	return line
}

func helpFunction(fn *starlark.Function) string {
	var parts []string
	params, _ := value.ParametersOf(fn)
	for _, p := range params {
		part := p.Name
		switch {
		case p.Field.Optional:
			part += " = " + generable.JSON(p.Field.Default, p.Field.Type)
		case p.Field.Type != nil:
			part += " = " + p.Field.Type.String()
		}
		parts = append(parts, part)
	}
	text := fn.Name() + "(" + strings.Join(parts, ", ") + ")"
	if doc := script.Dedent(fn.Doc()); doc != "" {
		text += "\n\n" + doc
	}
	return text
}

// helpAgent writes what an agent can do: how it chooses a skill, its tools, and each skill with the tools and the
// knowledge that only the skill has.
func helpAgent(out *strings.Builder, a *agent.Spec) {
	if by := chooses(a.Select); by != "" {
		out.WriteString("\n\n" + by)
	}
	if len(a.Tools) > 0 {
		out.WriteString("\n\n" + toolLines(a.Tools))
	}
	for _, sk := range a.Skills {
		out.WriteString("\n\n" + sk.Describe())
		if len(sk.Tools) > 0 {
			out.WriteString("\n\n" + toolLines(sk.Tools))
		}
	}
}

// chooses describes what chooses among skills. It returns "" if their types do.
func chooses(sel *agent.Selection) string {
	switch {
	case sel == nil:
		return ""
	case sel.By != nil:
		name := sel.By.Info().Name
		if name == "lambda" {
			name = "a lambda"
		}
		return "The skill is chosen by " + name + "."
	}
	model := "the agent's model"
	if sel.Ask.Model != "" {
		model = sel.Ask.Model
	}
	text := fmt.Sprintf("The skill is chosen by %s, at least %g sure", model, sel.Threshold)
	if rest := sel.Otherwise.Text; rest != "" {
		text += ", else " + rest
	}
	return text + "."
}

func toolLines(tools []*agent.Tool) string {
	lines := []string{"**Tools:**"}
	for _, t := range tools {
		var params []string
		if t.Params != nil && t.Params.Kind == generable.RecordType {
			for i := range t.Params.Fields {
				f := &t.Params.Fields[i]
				p := f.Name + ": " + f.Type.String()
				if f.Optional {
					p += " = " + generable.JSON(f.Default, f.Type)
				}
				params = append(params, p)
			}
		}
		line := "- " + t.Name + "(" + strings.Join(params, ", ") + ")"
		if doc, _, _ := strings.Cut(t.Doc, "\n"); doc != "" {
			line += " — " + doc
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
