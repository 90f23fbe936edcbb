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

// thing is one of the values that an expression may have, as far as it is known: the value itself, its type, a word of the
// table for it, or a function by its row or its definition.
type thing struct {
	value starlark.Value
	typ   *generable.Type
	word  string
	of    string // the word with what is in its brackets: list[Repair]
	row   *table.Builtin
	def   *syntax.DefStmt
}

// exactly is a value that is known.
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

// word returns what the table calls by a word.
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

// kind is the word under which the table has the methods or members of a thing, "" for none.
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
		return "t" // which tests call it
	}
}

// parts are the things that a union may be, or the thing itself.
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

// methods are those of the interpreter's own types.
var methods = map[string][]string{
	"str": starlark.String("").AttrNames(), "list": (*starlark.List)(nil).AttrNames(),
	"dict": (*starlark.Dict)(nil).AttrNames(), "set": (*starlark.Set)(nil).AttrNames(),
}

// resultOf is the word for what a method of the interpreter's own types returns.
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

// category is the kind of candidate that a thing is.
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

// line says in one line what a thing is; "" where nothing is known of it.
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

// line says in one line what is one of some things.
func (v *View) line(things []thing) string {
	var lines []string
	for _, t := range things {
		if line := t.line(v); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " | ")
}

// firstLine is the first line of a documentation.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// mostListed bounds the parts of a type without a name that are listed.
const mostListed = 6

// typeLine is a type as text. Of a schema without a name it lists the fields.
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
