package starlib

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Help is the text that help() prints about a value of the language; about nil, the list of
// all builtins.
func (t *Table) Help(v starlark.Value) string {
	switch v := v.(type) {
	case nil, starlark.NoneType:
		return t.overview()
	case starlark.String:
		if b, ok := t.Lookup(string(v)); ok {
			return b.help()
		}
		var names []string
		for _, b := range t.Rows() {
			names = append(names, b.QualifiedName())
		}
		if hint := didYouMean(string(v), names); hint != "" {
			return fmt.Sprintf("there is no builtin %q; %s", string(v), hint)
		}
		return "str: text. Methods: " + joined(v.AttrNames())
	case *starlark.Builtin:
		if b, ok := t.Lookup(v.Name()); ok && b.member() {
			return b.help()
		}
		for _, b := range t.Rows() {
			if b.Name == v.Name() && (b.Of == "") == (v.Receiver() == nil) && !b.member() {
				return b.help()
			}
		}
		for _, b := range t.Rows() {
			if b.Name == v.Name() {
				return b.help()
			}
		}
		return "builtin " + v.Name()
	case *makerValue:
		return t.Help(v.Builtin)
	case *typeValue:
		if v.fn != nil {
			if b, ok := t.Lookup(v.fn.Name()); ok {
				return b.help()
			}
		}
		return "type " + v.String() + "\n\n" + v.t.LLMDescription()
	case *nodeValue:
		return helpNode(v)
	case *starlark.Function:
		return helpFunction(v)
	case *recordValue:
		return "instance of " + v.Type() + "\n\n" + v.r.Type().LLMDescription()
	case *moduleValue:
		var lines []string
		for _, name := range v.AttrNames() {
			lines = append(lines, v.members[name].line())
		}
		return "module " + v.name + "\n\n" + strings.Join(lines, "\n")
	case starlark.HasAttrs:
		return v.Type() + ". Attributes: " + joined(v.AttrNames())
	}
	return v.Type()
}

func (b *Builtin) line() string {
	return fmt.Sprintf("  %-16s %s", b.QualifiedName(), b.Summary())
}

func (t *Table) overview() string {
	var out strings.Builder
	for _, g := range groupOrder {
		started := false
		for _, b := range t.Rows() {
			if b.Group != g || b.Of != "" {
				continue
			}
			if !started {
				fmt.Fprintf(&out, "%s\n", g)
				started = true
			}
			out.WriteString(b.line() + "\n")
		}
		if started {
			out.WriteByte('\n')
		}
	}
	return out.String() + "help(x) tells more about x."
}

// help is the entry of one row.
func (b *Builtin) help() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s -> %s\n\n%s\n", b.Signature(), b.Returns, b.Doc)
	if len(b.Params) > 0 {
		out.WriteString("\n")
	}
	for i := range b.Params {
		p := &b.Params[i]
		fmt.Fprintf(&out, "  %s (%s", p.shown(), p.Kind.Word)
		if p.Default != "" {
			fmt.Fprintf(&out, ", default %s", p.Default)
		}
		fmt.Fprintf(&out, "): %s\n", p.Doc)
	}
	if b.inRun != nil {
		out.WriteString("\nIn a function that runs:\n" + b.inRun.help())
	}
	return strings.TrimRight(out.String(), "\n")
}

// shown is the parameter's name with its stars.
func (p *Param) shown() string {
	switch p.Shape {
	case Variadic:
		return "*" + p.Name
	case Keywords:
		return "**" + p.Name
	}
	return p.Name
}

func helpNode(v *nodeValue) string {
	var out strings.Builder
	out.WriteString(nodeLine(v.n))
	if a := v.n.Agent(); a != nil {
		helpAgent(&out, a)
	}
	rest := mostParts
	helpParts(&out, v.n, "\n  ", &rest)
	return out.String()
}

// mostParts is how many parts of a node are told of.
const mostParts = 200

func helpParts(out *strings.Builder, n *engine.Node, indent string, rest *int) {
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

// nodeLine is what a node is, takes and gives, and where it was made.
func nodeLine(n *engine.Node) string {
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
	params, _ := parametersOf(fn)
	for _, p := range params {
		part := p.name
		switch {
		case p.field.Optional:
			part += " = " + generable.JSON(p.field.Default, p.field.Type)
		case p.field.Type != nil:
			part += " = " + p.field.Type.String()
		}
		parts = append(parts, part)
	}
	text := fn.Name() + "(" + strings.Join(parts, ", ") + ")"
	if doc := dedent(fn.Doc()); doc != "" {
		text += "\n\n" + doc
	}
	return text
}
