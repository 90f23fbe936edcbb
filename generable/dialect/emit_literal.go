package dialect

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/generable"
)

// checked moves what no schema of a form can say into words: conditions of a host, and the
// only values there are where the target cannot list them.
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
		e.say("literals", at, "one of "+jsonList(own.Only.Items()))
		own.Only = nil
	}
	return &own
}

// listable reports whether an enum can say which values of a type there are.
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
		return e.Literals >= scalarLiterals
	case generable.AnyType:
		return e.Literals == allLiterals
	case generable.OneOfType: // each part lists its own
		return !slices.ContainsFunc(t.Variants, func(v *generable.Type) bool {
			v = v.Deref()
			return v.Kind != generable.NoneType && len(of(v, only)) > 0 && (v.Kind == generable.OneOfType || !e.listable(v, only))
		})
	}
	return false
}

// of are the values that are ones of t.
func of(t *generable.Type, values []generable.Value) []generable.Value {
	return slices.DeleteFunc(slices.Clone(values), func(v generable.Value) bool { return t.Deref().Conforms(v) != nil })
}

// literal lists the only values that there are.
func (e *emitter) literal(m *generable.Map, t *generable.Type, at spot) *generable.Map {
	if at.limits == nil || at.limits.Only == nil {
		return m
	}
	values := of(t, at.limits.Only.Items())
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = generable.JSON(v, nil)
	}
	if len(values) == 1 && e.Const {
		m.Set("const", values[0])
		e.chars += len(texts[0])
		return m
	}
	e.countEnum(texts)
	m.Set("enum", generable.NewList(values).Value())
	return m
}

func jsonList(values []generable.Value) string {
	var list string
	for i, v := range values[:min(len(values), maxListed)] {
		if i > 0 {
			list += ", "
		}
		list += clipped(generable.JSON(v, nil))
	}
	if n := len(values) - maxListed; n > 0 {
		list += " and " + strconv.Itoa(n) + " more"
	}
	return list
}
