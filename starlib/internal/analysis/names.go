package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// names lists the names in scope that begin with the typed text, nearest first, and the keywords of the language.
func (v *View) names(typed string) (out []Candidate) {
	add := func(name, kind string, about func() string) {
		if startsWith(name, typed) {
			out = append(out, Candidate{name, name, kind, about()})
		}
	}
	said := func(line string) func() string { return func() string { return line } }
	about := func(t thing) func() string { return func() string { return t.line(v) } }
	for _, n := range v.locals() {
		add(n.name, "variable", func() string {
			return cmp.Or(v.line(v.named(&syntax.Ident{Name: n.name}, 0)), n.what)
		})
	}
	for _, name := range sorted(v.Names) {
		t := exactly(v.Names[name])
		if _, failed := t.value.(*value.Failed); failed {
			add(name, "variable", said("its value is not known: its statement has an error"))
		} else {
			add(name, t.category(), about(t))
		}
	}
	for name, by := range v.top() {
		if def, ok := by.(*syntax.DefStmt); ok {
			add(name, "function", about(thing{def: def}))
		} else {
			add(name, "variable", func() string {
				return cmp.Or(v.line(v.named(&syntax.Ident{Name: name}, 0)), "a name of this text")
			})
		}
	}
	for _, name := range v.Query.Names {
		add(name, "variable", said(unread))
	}
	for _, name := range sorted(v.State.Predeclared) {
		if row, ok := v.Table.Lookup(name); ok {
			kind := "builtin"
			if row.Returns == "module" {
				kind = "module"
			}
			add(name, kind, row.Summary)
		} else if _, failed := v.State.Predeclared[name].(*value.Failed); !failed {
			t := exactly(v.State.Predeclared[name])
			add(name, t.category(), about(t))
		}
	}
	for _, name := range sorted(starlark.Universe) {
		add(name, "builtin", said(universalLines[name]))
	}
	for _, word := range slices.Sorted(maps.Keys(words)) {
		add(word, "keyword", said(words[word]))
	}
	return out
}

// unread describes a name whose statement is broken.
const unread = "its statement cannot be read yet"

// startsWith reports whether a name begins with the typed text in any case.
func startsWith(name, typed string) bool {
	return len(name) >= len(typed) && strings.EqualFold(name[:len(typed)], typed)
}

// words are the keywords.
var words = map[string]string{
	"and":      "x and y: y if x holds, else x",
	"break":    "ends the loop",
	"continue": "continues with the next turn of the loop",
	"def":      "def name(parameters): begins a function",
	"elif":     "begins another case of an if",
	"else":     "begins the case that is left of an if",
	"for":      "for x in items: runs a block for each item",
	"if":       "runs a block if a condition holds",
	"in":       "x in items: reports whether items has x",
	"lambda":   "lambda x: expression is a function without a name",
	"load":     "load(\"file.star\", \"name\") loads names from another file",
	"not":      "not x: reports whether x does not hold",
	"or":       "x or y: x if x holds, else y",
	"pass":     "does nothing",
	"return":   "ends the function with a value",
	"while":    "runs a block as long as a condition holds",
}

// universalLines describe the interpreter's own names.
var universalLines = map[string]string{
	"None": "the value of what has no value", "True": "the bool that holds", "False": "the bool that does not hold",
	"abs": "abs(x): the absolute value of a number", "all": "all(items): whether all items hold",
	"any": "any(items): whether one of the items holds", "bool": "bool(x): whether x holds",
	"bytes": "bytes(x): the bytes of a text, or of numbers", "chr": "chr(n): the character with a number",
	"dict": "dict(pairs, **more): a new dict", "dir": "dir(x): the names of what x has",
	"enumerate": "enumerate(items, start = 0): pairs of a number and an item", "fail": "fail(text): ends with an error",
	"float": "float(x): x as a number with a fraction", "getattr": "getattr(x, name, default): what x has by a name",
	"hasattr": "hasattr(x, name): whether x has something by a name", "hash": "hash(text): a number made from a text",
	"int": "int(x): x as a whole number", "len": "len(x): how many items, keys or bytes x has",
	"list": "list(items): a new list", "max": "max(items, key = None): the greatest item",
	"min": "min(items, key = None): the least item", "ord": "ord(c): the number of a character",
	"print": "print(values): writes to the log", "range": "range(n), range(from, to, step): whole numbers",
	"repr": "repr(x): x as it is written in a script", "reversed": "reversed(items): the items from the last to the first",
	"set": "set(items): a new set", "sorted": "sorted(items, key = None, reverse = False): a sorted list",
	"str": "str(x): x as text", "tuple": "tuple(items): a tuple", "type": "type(x): the name of the type of x",
	"zip": "zip(a, b): tuples of the items at the same places",
}

func sorted(names starlark.StringDict) []string {
	keys := names.Keys()
	slices.Sort(keys)
	return keys
}

// members lists what x.name may be. If nothing is known about x, it may be an instance of any schema of the script, or
// a text.
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
	if typ, ok := t.value.(*value.Type); ok {
		for _, one := range enumValues(typ.T) {
			if isName(one.text) {
				out = append(out, Candidate{one.text, one.text, "value", one.doc})
			}
		}
	}
	if t.typ != nil && t.typ.Deref().Kind == generable.RecordType {
		for _, f := range fieldsOf(t.typ) {
			if isName(f.Name) {
				out = append(out, f)
			}
		}
	}
	rows := v.Table.Of[t.kind()]
	for _, name := range table.Names(rows) {
		out = append(out, Candidate{name, name, "method", rows[name].Summary()})
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
			line := "a field"
			if got, err := has.Attr(name); err == nil && got != nil {
				line = cmp.Or(exactly(got).line(v), line)
			}
			out = append(out, Candidate{name, name, "field", line})
		}
	}
	return out
}

// fieldsOf lists the fields of a schema, or of each schema that a type may be.
func fieldsOf(t *generable.Type) (out []Candidate) {
	for _, part := range (thing{typ: t}).parts() {
		if part.typ == nil || part.typ.Deref().Kind != generable.RecordType {
			continue
		}
		d := part.typ.Deref()
		for i := range d.Fields {
			f := &d.Fields[i]
			line := typeLine(f.Type)
			if guide := firstLine(f.Guide); guide != "" {
				line += ": " + guide
			}
			out = append(out, Candidate{f.Name, f.Name, "field", line})
		}
	}
	return out
}

func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	from, to := wordAround(s, 0)
	return from == 0 && to == len(s) && words[s] == ""
}
