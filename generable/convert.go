package generable

import (
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// Convert makes v a value of type t without losing anything, or tells all that stands
// against it. It serves constructors, the command line and values from the host; the text of
// a model goes through [lenient.Decode].
//
// It widens int to float and takes a whole float for an int, builds schemas from dicts by
// field name with defaults filled in, finds the variant of a union by its tag and that of an
// inline union by the only one that fits, and checks enums and limits. It never parses text,
// drops a key or rounds a number. When nothing changes it returns v itself.
func (t *Type) Convert(v Value) (Value, FieldErrors) {
	var c converter
	w, ok := c.convert(v, t, nil)
	if !ok {
		return v, c.result()
	}
	return w, nil
}

// Conforms tells how v, as it stands, is no value of type t; nothing when it is one. Nothing
// is converted. It is the check of a composition boundary: it allocates nothing for a value
// that fits, and trusts records, which were checked when they were made.
func (t *Type) Conforms(v Value) FieldErrors {
	if fits(v, t) {
		return nil
	}
	c := converter{exact: true}
	c.convert(v, t, nil)
	return c.result()
}

// fits reports whether v is a value of t as it stands.
func fits(v Value, t *Type) bool {
	var c converter
	return c.fits(v, t)
}

// maxDepth bounds the nesting of dicts and lists that are converted by a recursive type.
const maxDepth = 10_000

// converter carries one conversion. While quiet, only whether a value fits is wanted, and the first
// mistake ends it. An exact one converts nothing; it ends on every type, since recursion goes through
// records, and those are compared by their schema.
type converter struct {
	exact bool
	errs  FieldErrors
	more  int // errors beyond MaxErrors
	quiet int
	depth int
	memo  map[attempt]outcome // attempts at the branches of inline unions
}

// attempt is one collection tried as one type. Without remembering them, nested inline
// unions would be tried in every combination.
type attempt struct {
	p unsafe.Pointer
	t *Type
}

type outcome struct {
	v  Value
	ok bool
}

// fits reports whether v is a value of t as it stands.
func (c *converter) fits(v Value, t *Type) bool {
	exact := c.exact
	c.exact = true
	c.quiet++
	_, ok := c.convert(v, t, nil)
	c.quiet--
	c.exact = exact
	return ok
}

// fail records an error, if errors are wanted, and reports false.
func (c *converter) fail(at *message.Path, want, got, hint string) bool {
	switch {
	case c.quiet > 0:
	case len(c.errs) >= message.MaxErrors:
		c.more++
	default:
		c.errs = append(c.errs, newFieldError(at.String(), want, got, hint))
	}
	return false
}

// result is all errors, the last of them counting those that were left out.
func (c *converter) result() FieldErrors {
	if c.more > 0 {
		c.errs = append(c.errs, newFieldError("", "a value without errors", strconv.Itoa(c.more)+" errors more", ""))
	}
	return c.errs
}

// mismatch records that v is no value of t, and reports false.
func (c *converter) mismatch(v Value, t *Type, at *message.Path) bool {
	if c.quiet > 0 {
		return false
	}
	if s, ok := v.AsStr(); ok && t.Kind == EnumType {
		return c.fail(at, message.OneOf(t.Values), message.Quote(s), message.DidYouMean(s, t.Values))
	}
	want, hint := wanted(t)
	switch {
	case hint != "":
	case v.kind == MapKind && t.Kind == RecordType:
		hint = "make an instance: " + t.String() + "(**value)"
	case v.kind == Int && t.Kind == FloatType:
		hint = "convert it with float()"
	case v.kind == RecordKind && t.IsNominal() && v.TypeName() == t.Name:
		hint = "two different types are named " + t.Name
	}
	return c.fail(at, want, v.TypeName(), hint)
}

// wanted says in words what t takes.
func wanted(t *Type) (want, hint string) {
	switch t.Kind {
	case EnumType:
		return message.OneOf(t.Values), ""
	case RefType:
		return t.Name, "the type " + t.Name + " is not declared"
	}
	return t.String(), ""
}

func (c *converter) convert(v Value, t *Type, at *message.Path) (Value, bool) {
	t = t.resolved()
	switch t.Kind {
	case AnyType, ErrorType:
		return v, true
	case LimitType:
		w, ok := c.convert(v, t.Elem, at)
		return w, ok && c.keeps(w, t.Limits, at)
	case OneOfType:
		return c.oneOf(v, t, at)
	case ListType, DictType, RecordType, UnionType:
		return c.collection(v, t, at)
	}
	if t.holds(v) {
		return v, true
	}
	if c.exact {
		return v, c.mismatch(v, t, at)
	}
	switch t.Kind {
	case IntType:
		if w, ok := exactInt(v); ok {
			return w, true
		}
		if v.kind == Float {
			return v, c.fail(at, "int", "float "+JSON(v, nil), "")
		}
	case FloatType:
		if w, ok := exactFloat(v); ok {
			return w, true
		}
		if v.kind == Int || v.kind == Big {
			return v, c.fail(at, "float", "int "+text.ClipBytes(JSON(v, nil), message.MaxShown), "a float cannot hold all its digits")
		}
	}
	return v, c.mismatch(v, t, at)
}

// collection converts what is made of other values.
func (c *converter) collection(v Value, t *Type, at *message.Path) (Value, bool) {
	if c.depth >= maxDepth && !c.exact {
		return v, c.fail(at, "a value nested at most "+strconv.Itoa(maxDepth)+" deep", "a deeper one", "")
	}
	c.depth++
	defer func() { c.depth-- }()
	m, isMap := v.AsMap()
	switch {
	case t.Kind == ListType && v.kind == ListKind:
		return c.list(v, t, at)
	case t.Kind == DictType && isMap:
		return c.dict(v, t, at)
	case t.holds(v):
		return v, true
	case t.Kind == RecordType && isMap && !c.exact:
		return c.record(m, t, "", at)
	case t.Kind == UnionType && isMap && !c.exact:
		return c.variant(m, t, at)
	}
	return v, c.mismatch(v, t, at)
}

// keeps reports whether v keeps limits, and records which it does not.
func (c *converter) keeps(v Value, l *Limits, at *message.Path) bool {
	broken := l.check(v, nil, nil)
	for _, e := range broken {
		c.fail(at, e.Expected, e.Got, e.Hint)
	}
	return len(broken) == 0
}

// holds reports whether v is a value of t, which is neither made of others nor limited.
func (t *Type) holds(v Value) bool {
	switch t.Kind {
	case NoneType:
		return v.kind == Null
	case BoolType:
		return v.kind == Bool
	case IntType:
		return v.kind == Int || v.kind == Big
	case FloatType:
		return v.kind == Float
	case StrType:
		return v.kind == Str
	case EnumType:
		s, ok := v.AsStr()
		return ok && t.hasValue(s)
	case RecordType:
		r, ok := v.AsRecord()
		return ok && Same(r.typ, t)
	case UnionType:
		r, ok := v.AsRecord()
		return ok && slices.ContainsFunc(t.Variants, func(m *Type) bool {
			m = m.Deref()
			return m.Kind == ErrorType || Same(m, r.typ)
		})
	}
	return false
}

func (c *converter) list(v Value, t *Type, at *message.Path) (Value, bool) {
	items := (*List)(v.p).Items()
	var out []Value // a copy, once something changes
	good := true
	step := message.Path{Up: at, Is: message.InList} // outside the loop, where it stays on the stack
	for i, item := range items {
		step.Idx = i
		w, ok := c.convert(item, t.item(i), &step)
		if !ok {
			if good = false; c.quiet > 0 {
				return v, false
			}
			continue
		}
		if out == nil && changed(item, w) {
			out = slices.Clone(items)
		}
		if out != nil {
			out[i] = w
		}
	}
	if out == nil || !good {
		return v, good
	}
	return NewList(out).Value(), true
}

func (c *converter) dict(v Value, t *Type, at *message.Path) (Value, bool) {
	m := (*Map)(v.p)
	var out []Value
	good := true
	step := message.Path{Up: at}
	for i, key := range m.keys {
		step.Name = key
		w, ok := c.convert(m.val(i), t.Elem, &step)
		if !ok {
			if good = false; c.quiet > 0 {
				return v, false
			}
			continue
		}
		if out == nil && changed(m.val(i), w) {
			out = slices.Clone(m.values())
		}
		if out != nil {
			out[i] = w
		}
	}
	if out == nil || !good {
		return v, good
	}
	// Keys and index never change once shared, so both maps may have them.
	return (&Map{keys: m.keys, vals: out}).Value(), true
}

// changed reports whether a conversion made a new value.
func changed(a, b Value) bool { return a.p != b.p || a.n != b.n || a.kind != b.kind }

// record builds an instance of t from the entries of m, one of which, under skip, is the
// tag of a union and no field.
func (c *converter) record(m *Map, t *Type, skip string, at *message.Path) (Value, bool) {
	vals := make([]Value, len(t.Fields))
	good, used := true, 0
	step := message.Path{Up: at}
	for i := range t.Fields {
		f := &t.Fields[i]
		step.Name = f.Name
		given, has := m.Get(f.Name)
		ok := true
		switch {
		case has:
			used++
			vals[i], ok = c.field(f, given, &step)
		case f.Optional:
			vals[i] = f.Default
		case f.Type.AcceptsNone() && !f.Explicit:
		default:
			want, _ := wanted(f.Type.Deref())
			ok = c.fail(&step, want, "nothing", "")
		}
		if !ok {
			if good = false; c.quiet > 0 {
				return Value{}, false
			}
		}
	}
	if skip != "" {
		used++
	}
	if used < m.Len() {
		good = false
		if c.quiet == 0 {
			c.unknownKeys(m, t, skip, at)
		}
	}
	if !good {
		return Value{}, false
	}
	return NewRecord(t, vals).Value(), true
}

// field converts the value given for a field and holds it against the field's limits.
func (c *converter) field(f *Field, given Value, at *message.Path) (Value, bool) {
	if given.kind == Null && f.nullMeansAbsent() {
		return absent, true
	}
	w, ok := c.convert(given, f.Type, at)
	return w, ok && (f.Limits == nil || c.keeps(w, f.Limits, at))
}

func (c *converter) unknownKeys(m *Map, t *Type, skip string, at *message.Path) {
	names := t.FieldNames()
	want := "one of the fields " + strings.Join(names, ", ")
	if len(names) == 0 {
		want = "no fields"
	}
	for _, key := range m.keys {
		if key == skip || t.FieldIndex(key) >= 0 {
			continue
		}
		step := message.Path{Up: at, Name: key}
		c.fail(&step, want, "a field that "+t.String()+" does not have", t.keyHint(key, names))
	}
}

// keyHint finds what an unknown key may have meant.
func (t *Type) keyHint(key string, names []string) string {
	for i := range t.Fields {
		if f := &t.Fields[i]; slices.Contains(f.Alias, key) {
			return "did you mean " + f.Name + "?"
		}
	}
	return message.DidYouMean(key, names)
}

// Once leaves out fields that are missing because they are misspelt: the key that nobody knows says
// what it was meant for, and one mistake is enough. It is for those who are told of unknown keys.
func (l FieldErrors) Once() FieldErrors {
	meant := map[string]bool{}
	for _, e := range l {
		if near, ok := strings.CutPrefix(e.Hint, "did you mean "); ok && e.Got != "nothing" {
			meant[e.Path[:strings.LastIndexByte(e.Path, '.')+1]+strings.TrimSuffix(near, "?")] = true
		}
	}
	if len(meant) == 0 {
		return l
	}
	var kept FieldErrors
	for _, e := range l {
		if e.Got != "nothing" || !meant[e.Path] {
			kept = append(kept, e)
		}
	}
	return kept
}
