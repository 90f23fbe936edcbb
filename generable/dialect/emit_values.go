package dialect

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

func (e *emitter) enum(s *shape, at spot) *generable.Map {
	m := typed("string")
	if s.wide {
		e.rewrite("enum-as-text", at, "an enum of "+strconv.Itoa(len(s.nat.Values))+" values", "a string", "")
		values := "one of " + message.Listing(s.nat.Values, maxListed, text.Quote)
		at.notes.add(values)
		e.limit(at, values)
		return m
	}
	e.countEnum(s.nat.Values)
	m.Set("enum", in.Texts(s.nat.Values))
	return m
}

func (e *emitter) countEnum(values []string) {
	chars := 0
	for _, v := range values {
		chars += len(v)
	}
	e.enumValues += len(values)
	e.chars += chars
	e.grammar += chars + 8*len(values)
	e.written += chars
	if len(values) > bigEnum {
		e.bigEnumChars = max(e.bigEnumChars, chars)
	}
}

// choice writes a union as the anyOf of its parts, including null if withNull is set.
func (e *emitter) choice(s *shape, at spot, withNull bool) *generable.Map {
	if s.nat.Kind == generable.UnionType && len(s.parts) > 1 {
		e.rewrite("one-of", at, "oneOf", "anyOf", "")
	}
	var list []generable.Value
	var only *generable.Map
	null := false
	for _, p := range s.parts {
		if p.form == asIs && p.nat.Kind == generable.NoneType {
			null = withNull && (at.limits == nil || at.limits.Only == nil || s.full.AcceptsNone())
			continue
		}
		inner := at
		if s.nat.Kind == generable.UnionType || len(s.parts) > 2 {
			inner.path, inner.below = at.path.Part("<"+p.nat.String()+">"), at.below+1
		}
		if l := at.limits; l != nil && l.Only != nil && len(of(p.nat, l.Only.Items())) == 0 {
			continue // none of the allowed values belongs to this part
		}
		m := e.write(p, inner)
		only = m
		if nested := anyOfAlone(m); nested != nil {
			e.unions--
			list = append(list, nested...)
			continue
		}
		if doc := e.docOf(p); doc != "" && !(in.NonNone(s.nat) != nil || len(s.parts) == 1) {
			m = withDescription(m, doc)
		}
		list = append(list, m.Value())
	}
	if len(list) > 1 {
		e.unions++
		only = in.Object("anyOf", generable.NewList(list).Value())
	}
	if len(s.parts) > 1 && (len(list) > 1 || null) {
		e.choices++
	}
	if null {
		return e.orNull(only)
	}
	return only
}

// anyOfAlone returns the members of a schema that is only an anyOf.
func anyOfAlone(m *generable.Map) []generable.Value {
	v, _ := m.Get("anyOf")
	list, ok := v.AsList()
	if !ok || m.Len() > 1 {
		return nil
	}
	return list.Items()
}

// orNull adds null to a schema.
func (e *emitter) orNull(m *generable.Map) *generable.Map {
	if list := anyOfAlone(m); list != nil {
		return in.Object("anyOf", generable.ListOf(append(append([]generable.Value(nil), list...), typed("null").Value())...))
	}
	kind, _ := m.Get("type")
	name, single := kind.AsStr()
	if name == "null" {
		return m
	}
	e.unions++
	enum, hasEnum := m.Get("enum")
	_, isConst := m.Get("const")
	scalar := name != "object" && name != "array" && !hasEnum
	if !single || isConst || e.nullArray == nullAnyOf || e.nullArray == nullScalars && !scalar {
		return in.Object("anyOf", generable.ListOf(m.Value(), typed("null").Value()))
	}
	m.Set("type", in.Texts([]string{name, "null"}))
	if list, ok := enum.AsList(); ok {
		m.Set("enum", generable.ListOf(append(append([]generable.Value(nil), list.Items()...), generable.Value{})...))
	}
	return m
}

// list writes a list or, where the target supports them, a tuple.
func (e *emitter) list(s *shape, at spot) *generable.Map {
	e.container(at.level)
	m := typed("array")
	if len(s.parts) > 0 {
		first := make([]generable.Value, len(s.parts))
		for i, p := range s.parts {
			first[i] = e.described(p, at.down("["+strconv.Itoa(i)+"]", 1)).Value()
		}
		m.Set("prefixItems", generable.NewList(first).Value())
	}
	if s.items != nil {
		m.Set("items", e.described(s.items, at.down("[]", 1)).Value())
	}
	if n := len(s.nat.Variants); n > 0 && len(s.parts) == 0 {
		for i, v := range s.nat.Variants {
			e.say("tuple-as-list", at, "item "+strconv.Itoa(i)+" is "+article(v.String()))
		}
	}
	e.items(m, at)
	return m
}

// tuple writes a tuple as an object whose keys are the positions.
func (e *emitter) tuple(s *shape, at spot) *generable.Map {
	e.rewrite("tuple-as-object", at, s.nat.String(), `{"0": …}`, "an object whose keys are the positions in the list, from \"0\"")
	e.container(at.level)
	if at.limits != nil {
		e.sayUnique(at, at.limits)
	}
	props := make([]property, len(s.parts))
	for i, p := range s.parts {
		props[i] = property{strconv.Itoa(i), e.described(p, at.down("["+strconv.Itoa(i)+"]", 1)), true}
	}
	return e.object(props)
}

// checked moves what no schema can express into words: conditions of a host, and the only allowed values if the
// target cannot list them.
func (e *emitter) checked(s *shape, at spot, l *generable.Limits) *generable.Limits {
	if l == nil || l.Check == nil && l.Only == nil {
		return l
	}
	own := *l
	if own.Check != nil {
		e.say("check", at, own.Check.Says)
		own.Check = nil
	}
	if own.Only != nil && !(s.form == asIs && e.listable(s.nat, own.Only.Items())) {
		e.say("literals", at, "one of "+message.Listing(own.Only.Items(), maxListed, func(v generable.Value) string { return clipped(generable.JSON(v, nil)) }))
		own.Only = nil
	}
	return &own
}

// listable reports whether an enum can express which values of a type are allowed.
func (e *emitter) listable(t *generable.Type, only []generable.Value) bool {
	if len(of(t, only)) == 0 {
		return false
	}
	switch t = t.Deref(); t.Kind {
	case generable.StrType:
		return !slices.ContainsFunc(of(t, only), func(v generable.Value) bool {
			s, _ := v.AsStr()
			return !e.listsText(s)
		})
	case generable.IntType, generable.FloatType:
		return true
	case generable.BoolType:
		return e.literals >= scalarLiterals
	case generable.AnyType:
		return e.literals == allLiterals
	case generable.OneOfType: // each part lists its own values
		return !slices.ContainsFunc(t.Variants, func(v *generable.Type) bool {
			v = v.Deref()
			return v.Kind != generable.NoneType && len(of(v, only)) > 0 && (v.Kind == generable.OneOfType || !e.listable(v, only))
		})
	}
	return false
}

// of returns the values that are values of t.
func of(t *generable.Type, values []generable.Value) []generable.Value {
	return slices.DeleteFunc(slices.Clone(values), func(v generable.Value) bool { return t.Deref().Conforms(v) != nil })
}

// literal lists the only allowed values.
func (e *emitter) literal(m *generable.Map, t *generable.Type, at spot) *generable.Map {
	if at.limits == nil || at.limits.Only == nil {
		return m
	}
	values := of(t, at.limits.Only.Items())
	texts := text.Each(values, func(v generable.Value) string { return generable.JSON(v, nil) })
	if len(values) == 1 && e.constants {
		m.Set("const", values[0])
		e.chars += len(texts[0])
		return m
	}
	e.countEnum(texts)
	m.Set("enum", generable.NewList(values).Value())
	return m
}
