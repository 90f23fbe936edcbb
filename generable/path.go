package generable

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// CheckPath tells what is wrong with a path such as .steps[2].title or ["odd key"].x as a place in
// values of type t; nil when nothing is. What is under an any may be anything, and a dict has
// every key.
func (t *Type) CheckPath(path string) error {
	rest, at := path, t
	here := []*Type{t}
	for rest != "" {
		step, isIndex, next := message.CutStep(rest)
		if next == rest {
			return newFieldError("", "a path such as .steps[2].title", message.Quote(path), "")
		}
		parts, anything, names := []*Type(nil), false, []string(nil)
		for _, of := range flat(here, nil, 0) {
			switch of.Kind {
			case AnyType, ErrorType:
				anything = true
			case ListType:
				if isIndex {
					parts = append(parts, of.Elem)
				}
			case DictType:
				if !isIndex {
					parts = append(parts, of.Elem)
				}
			case RecordType:
				if i := of.FieldIndex(step); i >= 0 && !isIndex {
					parts = append(parts, of.Fields[i].Type)
				}
				names = append(names, of.FieldNames()...)
			case UnionType:
				if !isIndex && step == of.Tag {
					parts = append(parts, StrT)
				}
				for _, v := range of.Variants {
					v = v.Deref()
					if i := v.FieldIndex(step); i >= 0 && !isIndex {
						parts = append(parts, v.Fields[i].Type)
					}
					names = append(names, v.FieldNames()...)
				}
			}
		}
		if anything {
			return nil
		}
		if len(parts) == 0 {
			done := strings.TrimSuffix(path, rest)
			slices.Sort(names)
			names = slices.Compact(names)
			if len(names) == 0 || isIndex {
				return newFieldError(done, "a place in "+at.String(), message.Quote(strings.TrimSuffix(rest, next)), "")
			}
			return newFieldError(done, "one of the fields "+message.List(names), message.Quote(step), message.DidYouMean(step, names))
		}
		here, rest = parts, next
		at = OneOf(parts...)
	}
	return nil
}

// flat lists types with the alternatives of inline unions in their place, as far as those are
// not too deep in each other: a type may contain itself.
func flat(types, out []*Type, depth int) []*Type {
	for _, t := range types {
		if t = t.Deref(); t.Kind == LimitType {
			t = t.Elem.Deref()
		}
		switch {
		case slices.Contains(out, t):
		case t.Kind == OneOfType && depth < 8:
			out = flat(t.Variants, out, depth+1)
		default:
			out = append(out, t)
		}
	}
	return out
}
