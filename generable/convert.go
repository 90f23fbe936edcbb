package generable

import (
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// Convert makes v a value of type t without losing anything, or reports everything that prevents it. It serves
// constructors, the command line and values from the host; the text of a model goes through [lenient.Decode].
//
// It widens int to float and accepts a whole float as an int. It builds schemas from dicts by field name and fills in
// defaults. It finds the variant of a union by its tag, and that of an inline union if only one fits. It checks enums
// and limits. It never parses text, drops a key or rounds a number. When nothing changes it returns v itself.
func (t *Type) Convert(v Value) (Value, FieldErrors) {
	var c converter
	w, ok := c.convert(v, t, nil)
	if !ok {
		return v, c.result()
	}
	return w, nil
}

// Conforms reports why v, unconverted, is not a value of type t, or nothing when it is one. It is the check at a
// composition boundary: it allocates nothing for a value that fits, and trusts records, which were checked when they
// were made.
func (t *Type) Conforms(v Value) FieldErrors {
	if fits(v, t) {
		return nil
	}
	c := converter{exact: true}
	c.convert(v, t, nil)
	return c.result()
}

// fits reports whether v is a value of t without conversion.
func fits(v Value, t *Type) bool {
	var c converter
	return c.fits(v, t)
}

// maxDepth bounds the nesting of dicts and lists that are converted to a recursive type.
const maxDepth = 10_000

// converter carries out one conversion. While quiet > 0, it only determines whether a value fits, and the first
// mistake ends it. If exact, it converts nothing; it then terminates for every type, since recursion goes through
// records, which are compared by their schema.
type converter struct {
	exact bool
	errs  FieldErrors
	more  int // errors beyond MaxErrors
	quiet int
	depth int
	memo  map[attempt]outcome // attempts at the branches of inline unions
}

// attempt identifies one collection tried as one type. Without remembering attempts, nested inline unions would be
// tried in every combination.
type attempt struct {
	p unsafe.Pointer
	t *Type
}

type outcome struct {
	v  Value
	ok bool
}

// fits reports whether v is a value of t without conversion.
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

// result returns all errors; the last one counts those that were left out.
func (c *converter) result() FieldErrors {
	if c.more > 0 {
		c.errs = append(c.errs, newFieldError("", "a value without errors", strconv.Itoa(c.more)+" errors more", ""))
	}
	return c.errs
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

// collection converts a value that consists of other values.
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

// keeps reports whether v keeps the limits, and records those that it breaks.
func (c *converter) keeps(v Value, l *Limits, at *message.Path) bool {
	broken := l.check(v, nil, nil)
	for _, e := range broken {
		c.fail(at, e.Expected, e.Got, e.Hint)
	}
	return len(broken) == 0
}

// holds reports whether v is a value of t, a type that is neither composite nor limited.
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
	out, good := c.parts((*List)(v.p).Items(), nil, t, at)
	if out == nil {
		return v, good
	}
	return NewList(out).Value(), true
}

func (c *converter) dict(v Value, t *Type, at *message.Path) (Value, bool) {
	m := (*Map)(v.p)
	out, good := c.parts(m.values(), m.keys, t, at)
	if out == nil {
		return v, good
	}
	// Keys and index never change once shared, so both maps can use them.
	return (&Map{keys: m.keys, vals: out}).Value(), true
}

// parts converts the items of a list or, if keys is set, the values of a dict. If all values are good and at least
// one changes, it returns a copy, else nil.
func (c *converter) parts(vals []Value, keys []string, t *Type, at *message.Path) (out []Value, good bool) {
	good = true
	step := message.Path{Up: at} // outside the loop, where it stays on the stack
	for i, v := range vals {
		elem := t.Elem
		if keys != nil {
			step.Name = keys[i]
		} else {
			step.Idx, step.Is, elem = i, message.InList, t.item(i)
		}
		w, ok := c.convert(v, elem, &step)
		if !ok {
			if good = false; c.quiet > 0 {
				return nil, false
			}
			continue
		}
		if out == nil && changed(v, w) {
			out = slices.Clone(vals)
		}
		if out != nil {
			out[i] = w
		}
	}
	if !good {
		return nil, false
	}
	return out, true
}

// changed reports whether a conversion made a new value.
func changed(a, b Value) bool { return a.p != b.p || a.n != b.n || a.kind != b.kind }

// record builds an instance of t from the entries of m. The entry under skip is the tag of a union and not a field.
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

// field converts the value given for a field and checks the field's limits.
func (c *converter) field(f *Field, given Value, at *message.Path) (Value, bool) {
	if given.kind == Null && f.nullMeansAbsent() {
		return absent, true
	}
	w, ok := c.convert(given, f.Type, at)
	if s, isText := w.AsStr(); isText && f.Dedent && !c.exact {
		w = StrOf(text.Dedent(s))
	}
	return w, ok && (f.Limits == nil || c.keeps(w, f.Limits, at))
}

// oneOf converts v to a member of an inline union: the one that v already belongs to, else the only one that it can
// be converted to.
func (c *converter) oneOf(v Value, t *Type, at *message.Path) (Value, bool) {
	for _, m := range t.Variants { // no function value, which would cost an allocation
		if c.fits(v, m) {
			return v, true
		}
	}
	if c.exact && c.quiet > 0 {
		return v, false
	}
	var found, near *Type // the member that fits; the last one that v could be meant for
	var out Value
	nears := 0
	for _, m := range t.Variants {
		m = m.resolved()
		if !resembles(v, m.Deref()) {
			continue
		}
		near = m
		nears++
		if c.exact {
			continue
		}
		w, ok := c.try(v, m)
		if !ok {
			continue
		}
		if found != nil {
			return v, c.ambiguous(v, t, at)
		}
		found, out = m, w
	}
	switch {
	case found != nil:
		return out, true
	case c.quiet > 0:
		return v, false
	case nears == 1:
		return c.convert(v, near, at) // for its errors, which are more specific
	}
	return v, c.mismatch(v, t, at)
}

func (c *converter) ambiguous(v Value, t *Type, at *message.Path) bool {
	if c.quiet > 0 {
		return false
	}
	var names []string
	for _, m := range t.Variants {
		if _, ok := c.try(v, m.resolved()); ok {
			names = append(names, m.String())
		}
	}
	return c.fail(at, t.String(), v.TypeName()+" that fits "+strings.Join(names, " and "),
		"give the value as an instance of one of them, or declare a union, whose tag decides")
}

// resembles reports whether v has the outer form of a value of t, so that the reason why it is not one is worth
// reporting.
func resembles(v Value, t *Type) bool {
	switch t.Kind {
	case AnyType, ErrorType:
		return true
	case OneOfType: // behind limits or a reference
		return slices.ContainsFunc(t.Variants, func(m *Type) bool { return resembles(v, m.Deref()) })
	case NoneType:
		return v.kind == Null
	case BoolType:
		return v.kind == Bool
	case IntType, FloatType:
		return v.kind == Int || v.kind == Big || v.kind == Float
	case StrType, EnumType:
		return v.kind == Str
	case ListType:
		return v.kind == ListKind
	case DictType, RecordType, UnionType:
		return v.kind == MapKind
	}
	return false
}

// try converts v to t without recording errors.
func (c *converter) try(v Value, t *Type) (Value, bool) {
	key := attempt{t: t}
	switch v.kind {
	case ListKind, MapKind:
		key.p = v.p
		if o, ok := c.memo[key]; ok {
			return o.v, o.ok
		}
	}
	c.quiet++
	w, ok := c.convert(v, t, nil)
	c.quiet--
	if key.p != nil {
		if c.memo == nil {
			c.memo = make(map[attempt]outcome)
		}
		c.memo[key] = outcome{w, ok}
	}
	return w, ok
}

// variant builds an instance of the variant that the tag in m names.
func (c *converter) variant(m *Map, t *Type, at *message.Path) (Value, bool) {
	tag, has := m.Get(t.Tag)
	name, isStr := tag.AsStr()
	if v := t.Variant(name); has && isStr && v != nil && v.Kind == RecordType {
		return c.record(m, v, t.Tag, at)
	}
	if c.quiet > 0 {
		return Value{}, false
	}
	step, names := message.Path{Up: at, Name: t.Tag}, t.variantNames()
	switch {
	case !has:
		return Value{}, c.fail(&step, message.OneOf(names), "nothing", "the key "+t.Tag+" names the variant of "+t.String())
	case !isStr:
		return Value{}, c.fail(&step, message.OneOf(names), tag.TypeName(), "")
	}
	return Value{}, c.fail(&step, message.OneOf(names), message.Quote(name), message.DidYouMean(name, names))
}

func (t *Type) variantNames() []string {
	return text.Each(t.Variants, func(v *Type) string { return v.Deref().Name })
}
