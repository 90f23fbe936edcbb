package generable

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// Conforms tells how v, as it stands, is no value of type t; nothing when it is one. Nothing
// is converted. It is the check of a composition boundary: it allocates nothing for a value
// that fits, and trusts records, which were checked when they were made.
func (t *Type) Conforms(v Value) FieldErrors {
	if fits(v, t) {
		return nil
	}
	var c converter // for the recording of errors only
	c.conforms(v, t, nil)
	return c.result()
}

// fits reports whether v is a value of t as it stands.
func fits(v Value, t *Type) bool { return (*converter)(nil).conforms(v, t, nil) }

// conforms reports whether v is a value of t as it stands, and records all that keeps it from being one.
// A nil converter records nothing and stops at the first. It ends on every type: recursion goes through
// records, and those are compared by their schema.
func (c *converter) conforms(v Value, t *Type, at *message.Path) bool {
	t = t.resolved()
	switch t.Kind {
	case LimitType:
		return c.conforms(v, t.Elem, at) && c.keeps(v, t.Limits, at)
	case AnyType, ErrorType:
		return true
	case ListType:
		if v.kind == ListKind {
			ok := true
			step := message.Path{Up: at, Is: message.InList}
			for i, item := range (*List)(v.p).Items() {
				step.Idx = i
				if ok = c.conforms(item, t.item(i), &step) && ok; !ok && c == nil {
					return false
				}
			}
			return ok
		}
	case DictType:
		if v.kind == MapKind {
			ok, m := true, (*Map)(v.p)
			step := message.Path{Up: at}
			for i, key := range m.keys {
				step.Name = key
				if ok = c.conforms(m.val(i), t.Elem, &step) && ok; !ok && c == nil {
					return false
				}
			}
			return ok
		}
	case OneOfType:
		for _, m := range t.Variants {
			if fits(v, m) {
				return true
			}
		}
		if c != nil {
			if near := onlyCollection(v, t); near != nil {
				return c.conforms(v, near, at)
			}
		}
	default:
		if t.holds(v) {
			return true
		}
	}
	return c != nil && c.mismatch(v, t, at)
}

// keeps reports whether v keeps limits, and records which it does not.
func (c *converter) keeps(v Value, l *Limits, at *message.Path) bool {
	broken := l.check(v, nil, nil)
	if c != nil {
		for _, e := range broken {
			c.fail(at, e.Expected, e.Got, e.Hint)
		}
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

// onlyCollection finds the one list or dict type in an inline union that v, a list or dict,
// must have been meant for.
func onlyCollection(v Value, t *Type) *Type {
	var near *Type
	for _, m := range t.Variants {
		m = m.Deref()
		if (m.Kind == ListType && v.kind == ListKind) || (m.Kind == DictType && v.kind == MapKind) {
			if near != nil {
				return nil
			}
			near = m
		}
	}
	return near
}

// oneOf converts v to the member of an inline union that takes it: one that v belongs to as
// it is, else the only one it can be converted to.
func (c *converter) oneOf(v Value, t *Type, at *message.Path) (Value, bool) {
	if fits(v, t) {
		return v, true
	}
	var found, near *Type // the member that fits; the last one that v could have been meant for
	var out Value
	nears := 0
	for _, m := range t.Variants {
		m = m.resolved()
		if !resembles(v, m.Deref()) {
			continue
		}
		near = m
		nears++
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
		return c.convert(v, near, at) // for its errors, which say more
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

// resembles reports whether v has the outer form of a value of t, so that what keeps it from
// being one is worth telling.
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

// variant builds the instance of a union's variant that the tag in m names.
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
	names := make([]string, len(t.Variants))
	for i, v := range t.Variants {
		names[i] = v.Deref().Name
	}
	return names
}
