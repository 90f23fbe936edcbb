package generable

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// oneOf converts v to the member of an inline union that takes it: one that v belongs to as
// it is, else the only one it can be converted to.
func (c *converter) oneOf(v Value, t *Type, at *message.Path) (Value, bool) {
	for _, m := range t.Variants { // no function value, which would cost an allocation
		if c.fits(v, m) {
			return v, true
		}
	}
	if c.exact && c.quiet > 0 {
		return v, false
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
