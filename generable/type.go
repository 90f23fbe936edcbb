// Package generable provides types as values, and the values that they describe.
//
// A [Type] says what a value may be: a str, a list[int], a schema with fields, a union of schemas. A constructor
// builds it once ([NewSchema], [NewUnion], [NewEnum], [ListOfType], [OneOf], …); it is named by its declaration and
// never changes afterwards. A [Value] is one immutable datum: a scalar, a [List], a [Map] or a [Record], which is an
// instance of a schema.
//
//	ticket, errs := generable.NewSchema("Ticket", "A support request", []generable.Field{
//		{Name: "title", Type: generable.StrT, Guide: "one line"},
//		{Name: "urgent", Type: generable.BoolT, Optional: true, Default: generable.BoolOf(false)},
//	})
//
// Most callers tell a model what they want, read its answer and use the value:
//
//   - [Type.PromptFragment], [Type.LLMDescription] and [Type.JSONSchema] describe the type to a model;
//   - package lenient reads the answer, either whole or as it arrives;
//   - [Value.AsStr], [Record.Get] and similar methods read the value, and [JSON] writes it.
//
// [Type.Convert] converts a value from elsewhere to a type without losing anything. [Type.Conforms] checks a value
// without changing it. [Assignable] compares two types. All of them report every mistake at once, as [FieldErrors],
// each with its path.
//
// Package govalue converts Go types and values, package jsonschema converts JSON Schemas to types, and package
// dialect writes schemas in the form that providers accept.
//
// A Value is a 24-byte tagged struct rather than an interface: decoding a typical answer then needs a third of the
// allocations.
package generable

import (
	"cmp"
	"regexp"
	"slices"
	"sync/atomic"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// TypeKind says what a [Type] describes.
type TypeKind uint8

// The kinds of types. AnyType accepts every value and is checked only at run time.
const (
	AnyType TypeKind = iota
	NoneType
	BoolType
	IntType
	FloatType
	StrType
	ListType
	DictType
	RecordType // a schema: nominal
	EnumType   // a closed set of strings: nominal
	UnionType  // a declared union, discriminated by its tag: nominal
	OneOfType  // an inline union A | B, T | None: structural
	RefType    // a reference by name to a nominal type declared later or recursively
	LimitType  // another type whose values are limited: the items of a list, one of 1, 2 and 3; structural
	ErrorType  // replaces a type whose declaration failed; assignable both ways, so that one mistake yields one message
)

// DefaultTag is the discriminator of a union that does not name its own.
const DefaultTag = "type"

// Type is an immutable description of values. Build it with the constructors; compare with [Same].
//
// Schemas, unions and enums are nominal: two are the same when their names and contents agree. Lists, dicts and
// inline unions are structural.
type Type struct {
	Kind        TypeKind
	Name        string       // of a nominal type or a reference
	Doc         string       // what the type means, for people and models
	Description string       // replaces the generated description verbatim, when not empty
	Fields      []Field      // of a schema, in declared order
	Elem        *Type        // type of a list's items or a dict's values; the type that a limited type limits
	Variants    []*Type      // of a union, in declared order; the first items of a list that is a tuple
	Limits      *Limits      // of a limited type
	Tag         string       // of a declared union: the discriminator's key
	Values      []string     // of an enum, in declared order
	Notes       []ValueNote  // of an enum's values, in the same order; nil when there are none
	Stream      StreamPolicy // how an instance of a schema or union, or each item of a list or dict, appears while it arrives; see Field

	foreign bool                 // read from a JSON Schema: a key "type" that is not a field says nothing about a value
	open    bool                 // read from a JSON Schema that allows additional keys at every level
	depth   int                  // nesting depth, not counting through references
	index   map[string]int       // field name to index, when there are many fields
	target  atomic.Pointer[Type] // of a bound reference
	union   atomic.Pointer[Type] // the union that a schema is a variant of, used where the context names none
	id      atomic.Pointer[string]
	made    artefacts
}

// Field is one field of a schema.
type Field struct {
	Name      string
	Type      *Type
	Guide     string // what to put there, for people and models
	Default   Value
	Optional  bool     // has a default (which may be None)
	Omit      bool     // has no value unless one is given: reads as None and is left out of JSON; see [OmittedField]
	Explicit  bool     // must be given, though its type accepts None
	Alias     []string // other keys accepted when decoding
	AliasOnly bool     // models know the field only by its first alias; see [Field.Key]
	Dedent    bool     // the indentation that all lines of a text share is removed
	Limits    *Limits  // nil when unconstrained
	Examples  []Value
	Stream    StreamPolicy // how the field appears while it arrives; not part of the type's identity
}

// Limits constrain a field's value. Nil members impose no constraint.
type Limits struct {
	Ge, Le         *float64
	Gt, Lt         *float64 // exclusive bounds
	MinLen, MaxLen *int     // runes of a string, items of a list, entries of a dict
	MultipleOf     *float64 // computed on the decimal digits of both: 0.07 is a multiple of 0.01
	Unique         bool     // no two items of a list are equal
	Only           *List    // the only allowed values, without records
	Pattern        string   // a regular expression that some part of the text must match
	Format         string   // one of [FormatNames]
	Check          *Check   // a condition that the other members cannot express

	compiled *regexp.Regexp // Pattern, compiled when the schema was declared
}

// ValueNote holds what is known about one value of an enum.
type ValueNote struct {
	Doc   string   // what it means, for people and models
	Alias []string // other names accepted when decoding
}

// Note returns the note on value i.
func (t *Type) Note(i int) ValueNote {
	if i < len(t.Notes) {
		return t.Notes[i]
	}
	return ValueNote{}
}

// Check is a condition that a host imposes on a field's value. Two checks are the same when their Says are equal.
type Check struct {
	Says  string           // completes "want …": "an even number"
	Holds func(Value) bool // is not called for None; a check that panics does not hold

	// Hints returns alternative limits under which a generator of values can find values that may hold. It is nil
	// when nothing is known.
	Hints func() []Limits
}

// Required reports whether an instance must set the field: it has no default, and its type does not accept None or
// None must be given explicitly.
func (f *Field) Required() bool { return !f.Optional && (f.Explicit || !f.Type.AcceptsNone()) }

// The scalar types.
var (
	AnyT   = &Type{Kind: AnyType}
	NoneT  = &Type{Kind: NoneType}
	BoolT  = &Type{Kind: BoolType}
	IntT   = &Type{Kind: IntType}
	FloatT = &Type{Kind: FloatType}
	StrT   = &Type{Kind: StrType}
	ErrorT = &Type{Kind: ErrorType}
)

// MaxTypeDepth is the maximum nesting depth of a type. Texts about types are indented by level and walks over them
// recurse; without the bound, a loop in a script could use up memory.
const MaxTypeDepth = 250

// TooDeep reports whether t is nested deeper than [MaxTypeDepth]. [NewSchema] and [NewUnion] refuse such parts;
// callers that build lists, dicts and inline unions from outside types check for themselves.
func (t *Type) TooDeep() bool { return t.depth > MaxTypeDepth }

// ListOfType returns list[elem].
func ListOfType(elem *Type) *Type { return &Type{Kind: ListType, Elem: elem, depth: elem.depth + 1} }

// DictOfType returns dict[str, elem].
func DictOfType(elem *Type) *Type { return &Type{Kind: DictType, Elem: elem, depth: elem.depth + 1} }

// RefTo returns a reference to the nominal type with the given name. Bind it with [Type.Bind].
func RefTo(name string) *Type { return &Type{Kind: RefType, Name: name} }

// Bind makes a reference stand for t, a nominal type or the error type; a list that is its own item type would have
// no end. It reports false for other types, when t leads back to the reference, and when the reference is already
// bound to another type.
func (r *Type) Bind(t *Type) bool {
	if r.Kind != RefType || t == nil {
		return false
	}
	if d := t.Deref(); d == r || !(d.IsNominal() || d.Kind == RefType || d.Kind == ErrorType) {
		return false
	}
	if !r.target.CompareAndSwap(nil, t) && r.target.Load() != t {
		return false
	}
	if u := r.union.Load(); u != nil {
		t.Deref().union.CompareAndSwap(nil, u)
	}
	return true
}

// TagVariants makes JSON of instances of the union's variants carry its discriminator even where the context does not
// expect the union. If several unions share a schema, the first call counts. Call it while types are declared: it
// changes how existing instances look.
func (t *Type) TagVariants() {
	for _, v := range t.Variants {
		v.Deref().union.CompareAndSwap(nil, t)
	}
}

// HasSchema reports whether a model can be held to the type. It cannot for free text, any value or an error.
func (t *Type) HasSchema() bool {
	switch t.Deref().Kind {
	case StrType, AnyType, ErrorType:
		return false
	}
	return true
}

// Deref follows bound references and passes through limits, which do not matter to callers that ask for the kind of a
// value. An unbound reference returns itself.
func (t *Type) Deref() *Type {
	for {
		switch t.Kind {
		case RefType:
			next := t.target.Load()
			if next == nil {
				return t
			}
			t = next
		case LimitType:
			t = t.Elem
		default:
			return t
		}
	}
}

// resolved follows bound references and stops at limits.
func (t *Type) resolved() *Type {
	for t.Kind == RefType {
		next := t.target.Load()
		if next == nil {
			return t
		}
		t = next
	}
	return t
}

// item returns the type of item i of a list.
func (t *Type) item(i int) *Type {
	switch {
	case t.Kind != ListType:
		return AnyT
	case i < len(t.Variants):
		return t.Variants[i]
	}
	return t.Elem
}

// OneOf returns the inline union of the given types: nested inline unions are flattened, duplicates dropped, None
// moved to the end. A union with one remaining member is that member, and any absorbs all others.
func OneOf(types ...*Type) *Type {
	var out []*Type
	none := false
	var seen map[oneOfKey]bool // only beyond smallMap types that were looked for
	looks := 0
	var add func(t *Type)
	add = func(t *Type) {
		switch t.Kind {
		case OneOfType:
			if len(out) == 0 { // they already differ, so that A | B | C | … checks only each new one
				out = slices.DeleteFunc(slices.Clone(t.Variants), func(v *Type) bool { return v.Kind == NoneType })
				none = none || len(out) < len(t.Variants)
				return
			}
			for _, v := range t.Variants {
				add(v)
			}
		case NoneType:
			none = true
		default:
			if looks++; looks <= smallMap {
				if !slices.ContainsFunc(out, func(have *Type) bool { return Same(have, t) }) {
					out = append(out, t)
				}
				return
			}
			if seen == nil {
				seen = make(map[oneOfKey]bool)
			}
			for _, have := range out[len(seen):] {
				seen[have.oneOfKey()] = true
			}
			if key := t.oneOfKey(); !seen[key] {
				seen[key] = true
				out = append(out, t)
			}
		}
	}
	for _, t := range types {
		if t.Kind == AnyType {
			return AnyT
		}
		add(t)
	}
	if none {
		out = append(out, NoneT)
	}
	if len(out) == 1 {
		return out[0]
	}
	depth := 0
	for _, t := range out {
		depth = max(depth, t.depth+1)
	}
	return &Type{Kind: OneOfType, Variants: out, depth: depth}
}

// oneOfKey is what equal types have in common; see [Same].
type oneOfKey struct {
	kind TypeKind
	id   string
}

func (t *Type) oneOfKey() oneOfKey {
	t = t.resolved()
	return oneOfKey{t.Kind, t.ID()}
}

// FieldIndex returns the index of the named field, or -1.
func (t *Type) FieldIndex(name string) int {
	if t.index != nil {
		if i, ok := t.index[name]; ok {
			return i
		}
		return -1
	}
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// indexFields prepares the lookup of fields by name when there are too many to scan.
func (t *Type) indexFields() {
	if len(t.Fields) <= smallMap {
		return
	}
	t.index = make(map[string]int, len(t.Fields))
	for i := range t.Fields {
		t.index[t.Fields[i].Name] = i
	}
}

// FieldNames returns the names of the fields in declared order.
//
//go:noinline
func (t *Type) FieldNames() []string {
	return text.Each(t.Fields, func(f Field) string { return f.Name })
}

// Variant returns the union's variant with the given name, or nil.
func (t *Type) Variant(name string) *Type {
	for _, v := range t.Variants {
		if v = v.Deref(); v.Name == name {
			return v
		}
	}
	return nil
}

// AcceptsNone reports whether None is a value of t.
func (t *Type) AcceptsNone() bool {
	switch t = t.resolved(); t.Kind {
	case LimitType:
		return t.Elem.AcceptsNone() && (t.Limits.Only == nil || t.Limits.allows(Value{}))
	case AnyType, NoneType, ErrorType:
		return true
	case OneOfType:
		return slices.ContainsFunc(t.Variants, (*Type).AcceptsNone)
	}
	return false
}

// AcceptsText reports whether some text can be a value of t, ignoring limits.
func (t *Type) AcceptsText() bool {
	switch t = t.Deref(); t.Kind {
	case StrType, EnumType, AnyType:
		return true
	case OneOfType:
		return slices.ContainsFunc(t.Variants, (*Type).AcceptsText)
	}
	return false
}

// IsNominal reports whether t is identified by its declared name.
func (t *Type) IsNominal() bool {
	return t.Kind == RecordType || t.Kind == EnumType || t.Kind == UnionType
}

// maxPrinted bounds the depth of a type's text, and maxPrintedBytes the length at which the rest is cut: where types
// with many members mention each other, the length multiplies with each level.
const (
	maxPrinted      = 40
	maxPrintedBytes = 16 << 10
)

// String returns the type as the script language writes it: list[str], A | B, Measurement. Parts that are nested too
// deep to read are left out, and so is the end of a text that is too long.
func (t *Type) String() string {
	switch t.Kind {
	case ListType, DictType, LimitType, OneOfType:
		var room [64]byte
		return string(t.appendText(room[:0], maxPrinted))
	}
	return t.word()
}

func (t *Type) appendText(dst []byte, depth int) []byte {
	if depth == 0 || len(dst) > maxPrintedBytes {
		return append(dst, "…"...)
	}
	switch t.Kind {
	case ListType:
		return append(t.Elem.appendText(append(dst, "list["...), depth-1), ']')
	case LimitType:
		return t.Elem.appendText(dst, depth-1)
	case DictType:
		return append(t.Elem.appendText(append(dst, "dict[str, "...), depth-1), ']')
	case OneOfType:
		for i, v := range t.Variants {
			if i > 0 {
				dst = append(dst, " | "...)
			}
			if len(dst) > maxPrintedBytes {
				return append(dst, "…"...)
			}
			dst = v.appendText(dst, depth-1)
		}
		return dst
	}
	return append(dst, t.word()...)
}

var scalarNames = [...]string{AnyType: "any", NoneType: "None", BoolType: "bool", IntType: "int", FloatType: "float", StrType: "str", ErrorType: "<error>"}

// word returns the text of a type without parts, or its name. An enum without a name is written as its values, as in
// scripts.
func (t *Type) word() string {
	switch t.Kind {
	case EnumType:
		if t.Name == "" && len(t.Values) > 0 {
			return "enum(" + message.Quoted(t.Values) + ")"
		}
		return cmp.Or(t.Name, "<unnamed>")
	case RecordType, UnionType, RefType:
		return cmp.Or(t.Name, "<unnamed>")
	}
	return scalarNames[t.Kind]
}
