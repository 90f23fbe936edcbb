package doc

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

//go:embed stub.pyi.txt
var stubHead string

// stubTypes maps the results of builtins to annotations.
var stubTypes = map[string]string{
	"type": "Type", "node": "Node", "partial": "Partial", "stream": "Stream", "value": "Any", "field": "Field", "skill": "Skill", "tool": "Tool", "remedy": "Remedy", "recovery": "Recovery",
	"knowledge": "Knowledge", "budget": "Budget", "mcp": "MCP", "oauth": "OAuth", "secret": "Secret", "model": "Model", "router": "Router", "when": "When", "predicate": "Predicate", "edge": "Edge", "finish": "Finish", "memory": "Memory", "history": "History", "toolcall": "ToolCall", "pieces": "Pieces", "module": "Any",
}

// Stub returns a Python stub file of the table's builtins.
func Stub(t *table.Table) string {
	var out strings.Builder
	fmt.Fprintf(&out, stubHead, stubMethods(t, "type"), stubMethods(t, "node"), stubMethods(t, "partial"), stubMethods(t, "stream"), stubResults(t), stubMethods(t, "memory"), stubMethods(t, "skill"), stubMethods(t, "t"))
	for _, b := range t.Rows() {
		switch {
		case b.Of != "":
		case b.Name == "json":
			fmt.Fprintf(&out, "\nclass json:\n    %q\n%s", b.Summary(), stubMembers(t, "json"))
		case table.Capabilities[b.Name] != "":
			fmt.Fprintf(&out, "\nclass %s:\n    %q\n%s", b.Name, b.Summary(), stubMembers(t, b.Name))
		case b.Name == "budget":
			fmt.Fprintf(&out, "\nclass budget(Budget):\n    %q\n", b.Summary())
			init := *b
			init.Name, init.Returns = "__init__", "None"
			stub(&init, &out, "    ", []string{"self"})
			out.WriteString(stubMembers(t, "budget"))
		case b.Value:
			fmt.Fprintf(&out, "\n%s: %s\n", b.Name, stubTypes[b.Returns])
		case b.Make != nil:
			// str, int and the others are Python's own.
		default:
			forms := forms(b)
			for _, form := range forms {
				out.WriteString("\n")
				if len(forms) > 1 {
					out.WriteString("@overload\n")
				}
				stub(form, &out, "", nil)
			}
		}
	}
	return out.String()
}

// stubResults writes a class for each value with members that builtins return. Those that a script can make have a
// constructor.
func stubResults(t *table.Table) string {
	var out strings.Builder
	for _, r := range results {
		name := resultName(r)
		fmt.Fprintf(&out, "class %s:\n    %q\n", name, r.Doc+".")
		params := []string{"self", "*"}
		for _, f := range r.Fields {
			m := f.Name + ": " + anyWord().ReplaceAllString(pythonType(f.Type), "Any")
			fmt.Fprintf(&out, "    %s\n", m)
			params = append(params, m)
		}
		if b, ok := t.Lookup(name); ok && b.Make != nil {
			fmt.Fprintf(&out, "    def __init__(%s) -> None: ...\n", strings.Join(params, ", "))
			if made, ok := b.Make(nil, t).(*value.Type); ok && made.Of != nil {
				out.WriteString("    def __class_getitem__(cls, item: Any) -> Type: ...\n")
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// pythonType writes the type of a member as a Python annotation.
func pythonType(t *generable.Type) string {
	if t.Kind == generable.EnumType {
		return "Literal" + script.QuotedList(t.Values)
	}
	return t.String()
}

var anyWord = lazy.Regexp(`\bany\b`)

// forms returns the ways to call a row, each with its own parameters: as a node and in a run, or without and with an
// optional leading parameter.
func forms(b *table.Builtin) []*table.Builtin {
	switch {
	case b.InRun != nil:
		return []*table.Builtin{b, b.InRun}
	case b.Name == "attempt":
		return []*table.Builtin{{Name: b.Name, Returns: "node", Doc: b.Doc, Params: []table.Param{{Name: "node", Kind: table.NodeKind, Shape: table.Positional}}}, b}
	}
	if len(b.Params) == 0 || !b.Params[0].Skip {
		return []*table.Builtin{b}
	}
	without, with := *b, *b
	without.Params, with.Params = b.Params[1:], slices.Clone(b.Params)
	with.Params[0].Default = ""
	return []*table.Builtin{&without, &with}
}

func stubMethods(t *table.Table, of string) string {
	return stubAll(t.Of[of], "", "self")
}

func stubMembers(t *table.Table, of string) string {
	return stubAll(t.Of[of], "    @staticmethod\n")
}

func stubAll(rows map[string]*table.Builtin, decorator string, first ...string) string {
	var out strings.Builder
	for _, name := range table.Names(rows) {
		out.WriteString(decorator)
		stub(rows[name], &out, "    ", slices.Clone(first))
	}
	return out.String()
}

var typeWords = lazy.Regexp(`\bType\b`)

// annotation returns what a parameter takes. Types, including Python's own, become TypeLike.
func annotation(k *table.Kind) string { return typeWords().ReplaceAllString(k.Stub, "TypeLike") }

// stub writes a row as a Python definition.
func stub(b *table.Builtin, out *strings.Builder, indent string, parts []string) {
	starred := false
	lastPositional := -1
	params := slices.Clone(b.Params)
	// Python wants keyword-only parameters after *args.
	sorting.By(params, func(x, y table.Param) int { return stubRank(x.Shape) - stubRank(y.Shape) })
	for i, p := range params {
		if p.Shape == table.Positional {
			lastPositional = i
		}
	}
	optional := false
	for i, p := range params {
		switch p.Shape {
		case table.Variadic:
			parts = append(parts, "*"+p.Name+": "+annotation(p.Kind))
			starred = true
			continue
		case table.Keywords:
			parts = append(parts, "**"+p.Name+": "+annotation(p.Kind))
			continue
		case table.KeywordOnly:
			if !starred {
				parts = append(parts, "*")
				starred = true
			}
		}
		text := p.Name + ": " + annotation(p.Kind)
		if p.Default != "" || optional && p.Shape <= table.Positional {
			text += " = ..."
			optional = p.Shape <= table.Positional
		}
		parts = append(parts, text)
		if i == lastPositional {
			parts = append(parts, "/")
		}
	}
	returns := b.Returns
	if py, ok := stubTypes[returns]; ok {
		returns = py
	}
	fmt.Fprintf(out, "%sdef %s(%s) -> %s:\n%s    %q\n%s    ...\n", indent, b.Name, strings.Join(parts, ", "), returns, indent, b.Doc, indent)
}

func stubRank(s table.Shape) int {
	switch s {
	case table.Positional:
		return 0
	case table.Either:
		return 1
	case table.Variadic:
		return 2
	case table.KeywordOnly:
		return 3
	}
	return 4
}
