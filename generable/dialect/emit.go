package dialect

import (
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

// emitter writes the schema of a shape, counts what it uses and records the rewrites.
type emitter struct {
	*ruleset
	usage
	defs     *generable.Map
	shared   map[*shape]bool   // written once under $defs and referred to
	names    map[*shape]string // names of the shared shapes
	named    map[string]bool
	rewrites []Rewrite
	forms    []note // how the wire differs from the natural form
	limits   []note // constraints that the schema cannot express

	optionals, nullables, choices int // fields and unions that could be written differently

	quiet bool            // only count, without recording
	told  map[origin]bool // existing records; a type that is written in several places is reported once
}

// spot is the place being written.
type spot struct {
	path   *message.Path
	level  int               // of objects and arrays, including this one
	limits *generable.Limits // of the field whose value is written
	notes  *notes            // of the nearest place with a description
	owner  *generable.Field  // the nearest field
	below  int               // steps below it
	inName int               // bytes of the names on the path, which a grammar repeats
}

// origin identifies what a record is about.
type origin struct {
	kind  string
	field *generable.Field
	below int
	what  string
}

func newEmitter(r *ruleset, root *shape, quiet bool) *emitter {
	e := &emitter{ruleset: r, quiet: quiet, told: make(map[origin]bool), defs: generable.NewMap(0),
		shared: make(map[*shape]bool), names: make(map[*shape]string), named: make(map[string]bool)}
	e.share(root)
	return e
}

// root writes the whole schema.
func (e *emitter) root(s *shape) string {
	n := &notes{}
	at := spot{level: 1, notes: n}
	m := e.body(s, at)
	doc := s.nat.Doc
	if s.form == wrapped {
		doc = ""
	}
	m = e.describe(m, at, doc)
	if e.defs.Len() > 0 {
		m.Set("$defs", e.defs.Value())
	}
	text := generable.JSON(m.Value(), nil)
	if e.bytes = len(text); e.tooLong() {
		e.bytes = max(e.bytes, e.written)
	}
	return text
}

// write returns the schema of a shape in place, or a reference to it.
func (e *emitter) write(s *shape, at spot) *generable.Map {
	if !e.shared[s] {
		return e.body(s, at)
	}
	e.keep(at, limitedAll)
	name := e.name(s)
	if _, done := e.defs.Get(name); !done {
		e.defs.Set(name, generable.Value{}) // reserves the place while the body refers to itself
		e.chars += len(name)
		n := &notes{}
		inner := spot{path: at.path, level: 1, notes: n, owner: at.owner, below: at.below}
		m := e.describe(e.body(s, inner), inner, s.nat.Doc)
		e.defs.Set(name, m.Value())
	}
	return in.Object("$ref", generable.StrOf("#/$defs/"+name))
}

// tooLong stops the writing of schemas that no target accepts.
func (e *emitter) tooLong() bool { return e.written > e.budgets.bytes }

// body writes a shape where it is used.
func (e *emitter) body(s *shape, at spot) *generable.Map {
	e.written += 16
	if e.tooLong() {
		return generable.NewMap(0)
	}
	e.grammar += 24 + at.inName
	t := s.nat
	at.limits = e.checked(s, at, both(at.limits, s.limits))
	switch s.form {
	case wrapped:
		e.rewrite("wrapped", at, t.String(), `{"value": …}`, "an object with the one key \"value\", which holds the answer")
		return e.around(valueKey, s.items, at)
	case paired:
		e.rewrite("dict-as-pairs", at, t.String(), `[{"key": …, "value": …}]`, "a list of objects with key and value, each key once")
		return e.pairs(s, at)
	case entered:
		e.rewrite("dict-as-pairs", at, t.String(), `{"entries": [{"key": …, "value": …}]}`, "an object whose entries are a list of objects with key and value, each key once")
		e.container(at.level)
		inner := at
		inner.level++
		return e.object([]property{{entriesKey, e.pairs(s, inner), true}})
	case encoded:
		return e.text(s, at)
	case boxed:
		return e.box(s, at)
	case slotted:
		return e.slots(s, at)
	case digits:
		e.rewrite("integer-as-text", at, "an integer beyond 2^53", "its digits in a string", "an integer, written as its digits in a string")
		e.keep(at, limitedNumber)
		m := typed("string")
		if e.takesPattern(digitsPattern) {
			m.Set("pattern", generable.StrOf(digitsPattern))
		}
		return m
	case tupled:
		return e.tuple(s, at)
	}
	switch t.Kind {
	case generable.NoneType:
		return typed("null")
	case generable.BoolType:
		return e.literal(typed("boolean"), t, at)
	case generable.IntType:
		return e.literal(e.number(typed("integer"), at, e.intBounds), t, at)
	case generable.FloatType:
		return e.literal(e.number(typed("number"), at, e.numBounds), t, at)
	case generable.StrType:
		return e.literal(e.str(at), t, at)
	case generable.EnumType:
		return e.enum(s, at)
	case generable.ListType:
		return e.list(s, at)
	case generable.DictType:
		return e.dict(s, at)
	case generable.RecordType:
		return e.record(s, at)
	case generable.UnionType, generable.OneOfType:
		return e.choice(s, at, true)
	}
	return e.literal(generable.NewMap(0), t, at) // any value
}

const digitsPattern = "^-?[0-9]+$"

// container counts an object or array.
func (e *emitter) container(level int) { e.usage.depth = max(e.usage.depth, level) }

// described writes a shape at its own place, with the description for that place.
func (e *emitter) described(s *shape, at spot) *generable.Map {
	at.notes = &notes{}
	return e.describe(e.write(s, at), at, e.docOf(s))
}

// docOf returns the doc of the type at a place, unless its definition has it.
func (e *emitter) docOf(s *shape) string {
	if e.shared[s] {
		return ""
	}
	return s.nat.Doc
}

// around writes an object with one property.
func (e *emitter) around(key string, s *shape, at spot) *generable.Map {
	e.container(at.level)
	inner := at.down("", 1)
	return e.object([]property{{key, e.described(s, inner), true}})
}

func (e *emitter) pairs(s *shape, at spot) *generable.Map {
	e.container(at.level + 1)
	inner := at.down("{}", 2)
	m := typed("array")
	m.Set("items", e.object([]property{{pairKey, typed("string"), true}, {valueKey, e.described(s.items, inner), true}}).Value())
	e.items(m, at)
	return m
}

func (e *emitter) dict(s *shape, at spot) *generable.Map {
	e.container(at.level)
	m := typed("object")
	inner := at.down("{}", 1)
	if values := e.described(s.items, inner); values.Len() > 0 {
		m.Set("additionalProperties", values.Value())
	} else {
		m.Set("additionalProperties", generable.BoolOf(true))
	}
	e.keep(at, limitedLength)
	return m
}

// text writes a part as a string of JSON.
func (e *emitter) text(s *shape, at spot) *generable.Map {
	what := s.nat.String()
	e.rewrite(textKind(s), at, what, "its JSON in a string", "the JSON text of "+article(what)+", in a string")
	e.keep(at, limitedAll)
	return typed("string")
}

func (e *emitter) box(s *shape, at spot) *generable.Map {
	what := s.nat.String()
	if s.nat.Kind == generable.AnyType {
		what = "any value"
	}
	e.rewrite("json-text", at, what, `{"json": "…"}`, "an object whose key \"json\" holds the JSON text of "+article(what)+", in a string")
	e.keep(at, limitedAll)
	e.container(at.level)
	return e.object([]property{{jsonKey, typed("string"), true}})
}

// slots writes a union as one object with a list for each variant.
func (e *emitter) slots(s *shape, at spot) *generable.Map {
	e.rewrite("union-as-lists", at, s.nat.String(), "an object with a list for each variant", "an object with a list for each variant: one item in the list of the one that applies, none in the others")
	e.container(at.level + 1)
	props := make([]property, len(s.parts))
	for i, p := range s.parts {
		inner := at.down("<"+slotName(s, i)+">", 2)
		inner.limits = at.limits
		m := typed("array")
		m.Set("items", e.described(p, inner).Value())
		props[i] = property{slotName(s, i), m, true}
	}
	return e.object(props)
}

// slotName returns the key of a variant's list: its name, numbered if the name is taken.
func slotName(s *shape, i int) string {
	base := plainName(s.parts[i].nat.String(), "_.-", 48)
	n := 1
	for _, p := range s.parts[:i] {
		if plainName(p.nat.String(), "_.-", 48) == base {
			n++
		}
	}
	if n > 1 {
		return base + "_" + strconv.Itoa(n)
	}
	return base
}
