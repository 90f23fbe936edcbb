package generable

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// Walk calls visit once for each type that t consists of: first t, then its parts in declared order, following bound
// references. If visit returns false, the parts of that type are skipped.
func Walk(t *Type, visit func(*Type) bool) {
	seen := make(map[*Type]bool)
	var walk func(t *Type)
	walk = func(t *Type) {
		t = t.resolved()
		if seen[t] {
			return
		}
		seen[t] = true
		if !visit(t) {
			return
		}
		t.parts(walk)
	}
	walk(t)
}

// parts calls visit for each type that t directly consists of.
func (t *Type) parts(visit func(*Type)) {
	if t.Elem != nil {
		visit(t.Elem)
	}
	for _, v := range t.Variants {
		visit(v)
	}
	for i := range t.Fields {
		visit(t.Fields[i].Type)
	}
}

// Refs lists the unbound references inside t, each once, in declared order.
func Refs(t *Type) []*Type {
	var out []*Type
	Walk(t, func(t *Type) bool {
		if t.Kind == RefType {
			out = append(out, t)
		}
		return true
	})
	return out
}

// Verify reports mistakes in t that only show once its references are bound: names that are not declared, parts that
// are nil, variants that are not schemas, and schemas that no finite value can satisfy because they necessarily
// contain themselves.
func (t *Type) Verify() FieldErrors {
	var errs FieldErrors
	var records []*Type
	reported := make(map[string]bool)
	if t == nil {
		return FieldErrors{newFieldError("", "a type", "none", "")}
	}
	hollow := false
	Walk(t, func(t *Type) bool {
		if t.hollow() {
			hollow = true
			errs = append(errs, newFieldError(message.KeyPath(t.Name), "a type wherever it is made of one", "none", ""))
			return false
		}
		switch t.Kind {
		case RefType:
			if !reported[t.Name] {
				reported[t.Name] = true
				errs = append(errs, newFieldError(message.KeyPath(t.Name), "a type declared under this name", "none", ""))
			}
		case UnionType:
			errs = append(errs, t.verifyVariants()...)
		case RecordType:
			records = append(records, t)
		}
		return true
	})
	if hollow {
		return errs
	}
	return append(errs, endless(records)...)
}

// hollow reports whether a part of t is nil, which is only possible in a type that was built by hand.
func (t *Type) hollow() bool {
	needs := t.Kind == ListType || t.Kind == DictType || t.Kind == LimitType
	return needs && t.Elem == nil || slices.Contains(t.Variants, nil) ||
		slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Type == nil })
}

// verifyVariants checks the targets of the references among a union's variants.
func (t *Type) verifyVariants() FieldErrors {
	var errs FieldErrors
	names := make(map[string]bool)
	for _, v := range t.Variants {
		isRef := v.Kind == RefType
		v = v.Deref()
		if isRef {
			errs = append(errs, variantErrors(v, t.Tag, message.KeyPath(t.Name))...)
		}
		if v.Kind == RecordType && names[v.Name] {
			errs = append(errs, newFieldError(message.KeyPath(t.Name), "each variant once", "a second "+v.Name, ""))
		}
		names[v.Name] = true
	}
	return errs
}

// endless finds the schemas without a finite value. A schema has one when all its required fields have one; a schema
// for which none is ever found has none.
func endless(records []*Type) FieldErrors {
	finite := make(map[*Type]bool, len(records))
	var hasValue func(t *Type) bool
	hasValue = func(t *Type) bool {
		switch t = t.Deref(); t.Kind {
		case RecordType:
			return finite[t]
		case UnionType, OneOfType:
			return slices.ContainsFunc(t.Variants, func(v *Type) bool { return isMember(t, v) && hasValue(v) })
		}
		return true // a list or dict may be empty
	}
	for grew := true; grew; {
		grew = false
		for _, r := range records {
			if !finite[r] && len(r.blocked(hasValue)) == 0 {
				finite[r], grew = true, true
			}
		}
	}
	var errs FieldErrors
	for _, r := range records {
		if finite[r] {
			continue
		}
		for _, f := range r.blocked(hasValue) {
			errs = append(errs, newFieldError(message.KeyPath(r.String())+message.KeyPath(f.Name), "a type that a finite value can have",
				f.Type.String()+", which leads back to itself", "make it "+f.Type.String()+" | None, a list, or give it a default"))
		}
	}
	return errs
}

// blocked lists the required fields of a schema for which no value is known yet.
func (t *Type) blocked(hasValue func(*Type) bool) []*Field {
	var out []*Field
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Required() && !hasValue(f.Type) {
			out = append(out, f)
		}
	}
	return out
}

// namer gives each nominal type inside an artefact a unique name: two modules may each declare a Report.
type namer struct {
	names map[*Type]string
	used  map[string]bool
}

func newNamer() *namer { return &namer{names: make(map[*Type]string), used: make(map[string]bool)} }

// name returns the type's own name, with a number appended if the name is taken.
func (n *namer) name(t *Type) string {
	if name, ok := n.names[t]; ok {
		return name
	}
	n.names[t] = message.Unique(cmp.Or(t.Name, "Object"), n.used)
	return n.names[t]
}

// BindPart is [Type.Bind] for every kind of type: a list may be an item of itself, as JSON values are, as long as a
// list, dict or schema lies between a reference and itself. The caller must ensure that such types have a finite
// value; texts that refer to types by name need the reference's name to be unique.
func (r *Type) BindPart(t *Type) bool {
	if r.Kind != RefType || t == nil || leadsTo(t, r) {
		return false
	}
	return r.target.CompareAndSwap(nil, t) || r.target.Load() == t
}

// leadsTo reports whether t leads to the reference r again without a list, dict or schema in between.
func leadsTo(t, r *Type) bool {
	seen := make(map[*Type]bool)
	var leads func(t *Type) bool
	leads = func(t *Type) bool {
		if t == r {
			return true
		}
		if seen[t] {
			return false
		}
		seen[t] = true
		switch t.Kind {
		case RefType:
			next := t.target.Load()
			return next != nil && leads(next)
		case LimitType:
			return leads(t.Elem)
		case OneOfType:
			return slices.ContainsFunc(t.Variants, leads)
		}
		return false
	}
	return leads(t)
}

// CheckPath reports why a path such as .steps[2].title or ["odd key"].x is not a place in values of type t, or nil
// when it is one. Anything may be below an any, and a dict has every key.
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

// flat lists types with inline unions replaced by their alternatives, up to a nesting of 8: a type may contain
// itself.
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
