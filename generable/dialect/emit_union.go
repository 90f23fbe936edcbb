package dialect

import (
	"strconv"

	"github.com/agentscript/agentscript/generable"
)

func (e *emitter) enum(s *shape, at spot) *generable.Map {
	m := typed("string")
	if s.wide {
		e.rewrite("enum-as-text", at, "an enum of "+strconv.Itoa(len(s.nat.Values))+" values", "a string", "")
		at.notes.add("one of " + valueList(s.nat.Values))
		e.limit(at, "one of "+valueList(s.nat.Values))
		return m
	}
	e.countEnum(s.nat.Values)
	m.Set("enum", texts(s.nat.Values))
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

// choice writes a union as the anyOf of its parts, null among them where withNull says so.
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
			inner.path, inner.below = &step{at.path, "<" + p.nat.String() + ">"}, at.below+1
		}
		if l := at.limits; l != nil && l.Only != nil && len(of(p.nat, l.Only.Items())) == 0 {
			continue // none of the values there are is of this part
		}
		m := e.write(p, inner)
		only = m
		if nested := anyOfAlone(m); nested != nil {
			e.unions--
			list = append(list, nested...)
			continue
		}
		if doc := e.docOf(p); doc != "" && !(isOptional(s.nat) || len(s.parts) == 1) {
			m = withDescription(m, doc)
		}
		list = append(list, m.Value())
	}
	if len(list) > 1 {
		e.unions++
		only = object("anyOf", generable.NewList(list).Value())
	}
	if len(s.parts) > 1 && (len(list) > 1 || null) {
		e.choices++
	}
	if null {
		return e.orNull(only)
	}
	return only
}

// anyOfAlone gives the members of a schema that is nothing but an anyOf.
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
		return object("anyOf", generable.ListOf(append(append([]generable.Value(nil), list...), typed("null").Value())...))
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
	if !single || isConst || e.NullArray == nullAnyOf || e.NullArray == nullScalars && !scalar {
		return object("anyOf", generable.ListOf(m.Value(), typed("null").Value()))
	}
	m.Set("type", texts([]string{name, "null"}))
	if list, ok := enum.AsList(); ok {
		m.Set("enum", generable.ListOf(append(append([]generable.Value(nil), list.Items()...), generable.Value{})...))
	}
	return m
}
