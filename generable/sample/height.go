package sample

import "github.com/agentscript/agentscript/generable"

// endless is the height of a type without finite values.
const endless = 1 << 20

// lowest returns the smallest nesting depth of a type's values; endless if each value contains another of its
// type.
func lowest(t *generable.Type) int { return low(t, map[*generable.Type]bool{}) }

func low(t *generable.Type, open map[*generable.Type]bool) int {
	if t.Kind == generable.RefType {
		t = t.Deref()
	}
	switch t.Kind {
	case generable.LimitType:
		if t.Limits.MinLen != nil && *t.Limits.MinLen > 0 && (t.Elem.Deref().Kind == generable.ListType || t.Elem.Deref().Kind == generable.DictType) {
			return 1 + low(t.Elem.Deref().Elem, open)
		}
		return low(t.Elem, open)
	case generable.ListType:
		most := 0
		for _, v := range t.Variants { // of a tuple
			most = max(most, low(v, open))
		}
		return 1 + most
	case generable.UnionType, generable.OneOfType:
		least := endless
		for _, v := range t.Variants {
			least = min(least, low(v, open))
		}
		return min(1+least, endless)
	case generable.RecordType:
		if open[t] {
			return endless
		}
		open[t] = true
		most := 0
		for i := range t.Fields {
			f := &t.Fields[i]
			switch of := f.Type.Deref(); {
			case f.Optional:
			case f.Limits != nil && f.Limits.MinLen != nil && *f.Limits.MinLen > 0 && (of.Kind == generable.ListType || of.Kind == generable.DictType):
				most = max(most, 1+low(of.Elem, open))
			default:
				most = max(most, low(of, open))
			}
		}
		delete(open, t)
		return min(1+most, endless)
	}
	return 1
}

// tallest returns the largest nesting depth of a type's values, and reports whether there is one: a recursive
// type has none.
func tallest(t *generable.Type) (int, bool) {
	return tall(t, map[*generable.Type]bool{}, map[*generable.Type]int{})
}

func tall(t *generable.Type, open map[*generable.Type]bool, known map[*generable.Type]int) (int, bool) {
	t = t.Deref()
	if h, ok := known[t]; ok {
		return h, true
	}
	if open[t] {
		return 0, false
	}
	open[t] = true
	defer delete(open, t)
	most := 0
	each := func(parts ...*generable.Type) bool {
		for _, p := range parts {
			h, finite := tall(p, open, known)
			if !finite {
				return false
			}
			most = max(most, h)
		}
		return true
	}
	finite := each(t.Variants...)
	if finite && t.Elem != nil {
		finite = each(t.Elem)
	}
	for i := range t.Fields {
		finite = finite && each(t.Fields[i].Type)
	}
	if finite {
		known[t] = most + 1
	}
	return most + 1, finite
}
