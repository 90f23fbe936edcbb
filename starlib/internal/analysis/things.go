package analysis

import (
	"cmp"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/doc"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// thing is one possible value of an expression, as far as it is known: the value itself, its type, the table's word for
// it, or a function by its row or its definition.
type thing struct {
	value starlark.Value
	typ   *generable.Type
	word  string
	of    string // the word with its type arguments: list[Repair]
	row   *table.Builtin
	def   *syntax.DefStmt
}

// exactly returns the thing for a known value.
func exactly(v starlark.Value) thing {
	switch v := v.(type) {
	case *value.Record:
		return thing{value: v, typ: v.Record.Type()}
	case *possible.Part:
		return thing{word: v.Row.Returns}
	case starlark.String:
		return thing{word: "str"}
	case *starlark.List:
		return thing{word: "list"}
	case *starlark.Dict:
		return thing{word: "dict"}
	case *starlark.Set:
		return thing{word: "set"}
	}
	return thing{value: v}
}

// word returns the things that a word of the table stands for.
func (v *View) word(word string) []thing {
	if t, ok := doc.Result(word); ok {
		return []thing{{typ: t}}
	}
	if t, ok := v.State.Predeclared[word].(*value.Type); ok && t.Func == nil && !t.Bare {
		return []thing{{typ: t.T}}
	}
	whole := word
	word, _, _ = strings.Cut(word, "[")
	switch word {
	case "None", "value", "any":
		return nil
	}
	return []thing{{word: word, of: whole}}
}

// kind returns the word under which the table has the methods or members of a thing, or "".
func (t thing) kind() string {
	switch x := t.value.(type) {
	case *table.ModuleValue:
		return x.Name
	case *value.Maker:
		return x.Name()
	case nil:
		return t.word
	default:
		if word := x.Type(); word != "test" {
			return word
		}
		return "t" // the name that tests use
	}
}

// parts returns the members of a union, or the thing itself.
func (t thing) parts() []thing {
	if t.typ == nil {
		return []thing{t}
	}
	d := t.typ.Deref()
	switch d.Kind {
	case generable.LimitType:
		return thing{typ: d.Elem}.parts()
	case generable.UnionType, generable.OneOfType:
		var out []thing
		for _, one := range d.Variants {
			if one.Deref().Kind != generable.NoneType {
				out = append(out, thing{typ: one}.parts()...)
			}
		}
		return out
	case generable.StrType, generable.EnumType:
		return []thing{{word: "str", typ: t.typ}}
	case generable.ListType:
		return []thing{{word: "list", typ: t.typ}}
	case generable.DictType:
		return []thing{{word: "dict", typ: t.typ}}
	}
	return []thing{t}
}

// methods are the methods of the interpreter's own types.
var methods = map[string][]string{
	"str": starlark.String("").AttrNames(), "list": (*starlark.List)(nil).AttrNames(),
	"dict": (*starlark.Dict)(nil).AttrNames(), "set": (*starlark.Set)(nil).AttrNames(),
}

// resultOf returns the word for the result of a method of the interpreter's own types.
func resultOf(of, method string) string {
	kind := map[string]possible.Kind{"str": possible.Text, "list": possible.List, "dict": possible.Dict, "set": possible.Set}[of]
	if a, ok := possible.Results[kind][method].Certain(); ok {
		switch a.Kind {
		case possible.Text:
			return "str"
		case possible.Integer:
			return "int"
		case possible.Boolean:
			return "bool"
		case possible.List:
			return "list"
		}
	}
	return "value"
}

// category returns the kind of a candidate for the thing.
func (t thing) category() string {
	switch t.value.(type) {
	case *value.Type:
		return "type"
	case *value.Node:
		return "node"
	case *starlark.Function:
		return "function"
	case *starlark.Builtin:
		return "builtin"
	}
	return "variable"
}

// line describes a thing in one line. It returns "" if nothing is known about it.
func (t thing) line(v *View) string {
	switch x := t.value.(type) {
	case *value.Type:
		return cmp.Or(firstLine(x.T.Deref().Doc), typeLine(x.T))
	case *value.Node:
		if x.Node.Failed() {
			return ""
		}
		return typeLine(x.Node.In()) + " -> " + typeLine(x.Node.Out())
	case *starlark.Function:
		c := ofFunction(x)
		return cmp.Or(firstLine(c.doc), c.signature())
	}
	switch {
	case t.def != nil:
		c := ofDef(t.def)
		return cmp.Or(firstLine(c.doc), c.signature())
	case t.row != nil:
		return t.row.Summary()
	case t.typ != nil:
		return typeLine(t.typ)
	}
	return t.kind()
}

// line describes in one line a value that may be any of some things.
func (v *View) line(things []thing) string {
	var lines []string
	for _, t := range things {
		if line := t.line(v); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " | ")
}

// firstLine returns the first line of a documentation.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// mostListed bounds the parts that are listed of a type without a name.
const mostListed = 6

// typeLine returns a type as text. For a schema without a name it lists the fields.
func typeLine(t *generable.Type) string {
	written := t.String()
	if !strings.Contains(written, "<unnamed>") {
		return written
	}
	list := func(all []string, sep string) string {
		if len(all) > mostListed {
			all = append(slices.Clone(all[:mostListed]), "...")
		}
		return strings.Join(all, sep)
	}
	switch d := t.Deref(); d.Kind {
	case generable.RecordType:
		return "schema(" + list(d.FieldNames(), ", ") + ")"
	case generable.LimitType:
		return typeLine(d.Elem)
	case generable.ListType:
		return "list[" + typeLine(d.Elem) + "]"
	case generable.OneOfType:
		return list(text.Each(d.Variants, typeLine), " | ")
	}
	return written
}
