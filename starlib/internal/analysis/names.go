package analysis

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// names lists the names in scope, the nearest first, and the words of the language.
func (v *View) names() (out []Candidate) {
	for _, n := range v.locals() {
		out = append(out, Candidate{n.name, n.name, "variable", n.doc})
	}
	for _, name := range sorted(v.Names) {
		t := exactly(v.Names[name])
		if _, failed := t.value.(*value.Failed); failed {
			out = append(out, Candidate{name, name, "variable", ""})
			continue
		}
		out = append(out, Candidate{name, name, t.category(), t.line(v)})
	}
	for _, name := range v.Query.Names {
		out = append(out, Candidate{name, name, "variable", ""})
	}
	for _, name := range sorted(v.State.Predeclared) {
		if row, ok := v.Table.Lookup(name); ok {
			kind := "builtin"
			if row.Returns == "module" {
				kind = "module"
			}
			out = append(out, Candidate{name, name, kind, row.Summary()})
		} else if _, failed := v.State.Predeclared[name].(*value.Failed); !failed {
			t := exactly(v.State.Predeclared[name])
			out = append(out, Candidate{name, name, t.category(), t.line(v)})
		}
	}
	for _, name := range sorted(starlark.Universe) {
		out = append(out, Candidate{name, name, "builtin", ""})
	}
	for _, word := range words {
		out = append(out, Candidate{word, word, "keyword", ""})
	}
	return out
}

// words are those of the syntax.
var words = []string{"and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda", "load", "not", "or", "pass", "return", "while"}

func sorted(names starlark.StringDict) []string {
	keys := names.Keys()
	slices.Sort(keys)
	return keys
}

// members lists what x.name may be. Where nothing is known of x, it may be an instance of any schema of the script, or a
// text.
func (v *View) members(x syntax.Expr) (out []Candidate) {
	things := v.of(x, 0)
	if len(things) == 0 {
		for _, t := range v.State.Types.All {
			things = append(things, thing{typ: t})
		}
		things = append(things, thing{word: "str"})
	}
	for _, on := range things {
		for _, t := range on.parts() {
			out = append(out, v.membersOf(t)...)
		}
	}
	return out
}

func (v *View) membersOf(t thing) (out []Candidate) {
	if typ, ok := t.value.(*value.Type); ok && typ.T.Deref().Kind == generable.EnumType {
		d := typ.T.Deref()
		for i, name := range d.Values {
			if isName(name) {
				out = append(out, Candidate{name, name, "value", d.Note(i).Doc})
			}
		}
	}
	rows := v.Table.Of[t.kind()]
	for _, name := range table.Names(rows) {
		out = append(out, Candidate{name, name, "method", rows[name].Summary()})
	}
	if t.typ != nil && t.typ.Deref().Kind == generable.RecordType {
		d := t.typ.Deref()
		for i := range d.Fields {
			f := &d.Fields[i]
			if isName(f.Name) {
				out = append(out, Candidate{f.Name, f.Name, "field", fieldLine(f)})
			}
		}
		return out
	}
	if own := methods[t.word]; own != nil {
		for _, name := range own {
			out = append(out, Candidate{name, name, "method", "-> " + resultOf(t.word, name)})
		}
		return out
	}
	if has, ok := t.value.(starlark.HasAttrs); ok {
		for _, name := range has.AttrNames() {
			if rows[name] != nil {
				continue
			}
			out = append(out, Candidate{name, name, "field", ""})
		}
	}
	return out
}

func fieldLine(f *generable.Field) string {
	line, _, _ := strings.Cut(f.Guide, "\n")
	if line == "" {
		return f.Type.String()
	}
	return f.Type.String() + ": " + line
}

func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	from, to := wordAround(s, 0)
	return from == 0 && to == len(s) && !slices.Contains(words, s)
}
