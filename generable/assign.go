package generable

import (
	"fmt"
	"strconv"
)

// Reason is one cause why a type is not assignable to another.
type Reason struct {
	Path     string // where inside the types: "", "[]", ".items[]"
	From, To *Type  // the pair that does not fit
	Text     string // the cause in words
}

func (r Reason) String() string {
	if r.Path == "" {
		return r.Text
	}
	return r.Path + ": " + r.Text
}

// Assignable tells whether a value of type from may flow where type to is wanted; no reason
// means yes. It is total and looks through generics: a variant fits its union, T fits
// T | None, lists and dicts fit by element, an enum fits str. Any fits everywhere and is
// checked at run time (see [Unchecked]). Numbers are not widened here: the decoder and
// constructors do that, a composition boundary does not.
// Limits are checked at run time, too.
func Assignable(from, to *Type) []Reason { return assignable(from, to, "") }

func assignable(from, to *Type, path string) []Reason {
	var a assigner
	return a.assign(from, to, path)
}

// assigner remembers the pairs of types that are being held against each other. A type such as
// a str or a list of itself leads back to the same pair, which then is taken to fit: only what
// lies on the way can be a reason against it.
type assigner struct{ open map[[2]*Type]bool }

func (a *assigner) assign(from, to *Type, path string) []Reason {
	loops := from.Kind == RefType || to.Kind == RefType
	from, to = from.Deref(), to.Deref()
	if !loops || from.IsNominal() && to.IsNominal() {
		return a.compare(from, to, path)
	}
	pair := [2]*Type{from, to}
	if a.open[pair] {
		return nil
	}
	if a.open == nil {
		a.open = make(map[[2]*Type]bool)
	}
	a.open[pair] = true
	out := a.compare(from, to, path)
	if out != nil {
		delete(a.open, pair)
	}
	return out
}

func (a *assigner) compare(from, to *Type, path string) []Reason {
	switch {
	case from.Kind == ErrorType || to.Kind == ErrorType || from.Kind == AnyType || to.Kind == AnyType:
		return nil
	case Same(from, to):
		return nil
	case from.Kind == OneOfType:
		return a.each(from, to, path)
	case to.Kind == OneOfType || to.Kind == UnionType:
		for _, v := range to.Variants {
			if apart(from, v) {
				continue
			}
			if isMember(to, v) && a.assign(from, v, path) == nil {
				return nil
			}
		}
		if from.Kind == UnionType { // a union fits where each of its variants does
			return a.each(from, to, path)
		}
	case from.Kind == UnionType:
		return a.each(from, to, path)
	case from.Kind == ListType && to.Kind == ListType:
		for i := range max(len(from.Variants), len(to.Variants)) {
			if out := a.assign(from.item(i), to.item(i), path+"["+strconv.Itoa(i)+"]"); out != nil {
				return out
			}
		}
		return a.assign(from.Elem, to.Elem, path+"[]")
	case from.Kind == DictType && to.Kind == DictType:
		return a.assign(from.Elem, to.Elem, path+"[str]")
	case from.Kind == EnumType && to.Kind == StrType:
		return nil
	}
	return []Reason{{Path: path, From: from, To: to, Text: mismatch(from, to)}}
}

// apart reports whether two types are schemas, or enums, that differ: no value is of both. Among
// hundreds of variants that is asked often.
func apart(a, b *Type) bool {
	b = b.Deref()
	return a.Kind == b.Kind && (a.Kind == RecordType || a.Kind == EnumType) && !Same(a, b)
}

// each gathers why the members of a union do not fit to.
func (a *assigner) each(from, to *Type, path string) []Reason {
	var out []Reason
	for _, v := range from.Variants {
		if isMember(from, v) {
			out = append(out, a.assign(v, to, path)...)
		}
	}
	return out
}

// isMember reports whether v can be a member of u. A reference inside a declared union may
// turn out to stand for a union, even the same one; [Type.Verify] reports it, and looking
// into it would never end.
func isMember(u, v *Type) bool { return u.Kind != UnionType || v.Deref().Kind != UnionType }

func mismatch(from, to *Type) string {
	if from.IsNominal() && to.IsNominal() && from.Name == to.Name {
		return fmt.Sprintf("two different types are named %s", from.Name)
	}
	return fmt.Sprintf("%s is not %s", from, to)
}

// Unchecked reports whether an assignable pair is only proven at run time, because any
// stands somewhere on the source side where the target wants more.
func Unchecked(from, to *Type) bool { return unchecked(from, to, 0) }

func unchecked(from, to *Type, depth int) bool {
	limited := to.resolved().Kind == LimitType && !Same(from, to)
	from, to = from.Deref(), to.Deref()
	switch {
	case from.Kind == ErrorType || to.Kind == ErrorType:
		return false
	case limited:
		return true
	case to.Kind == AnyType:
		return false
	case from.Kind == AnyType:
		return true
	case Same(from, to):
		return false
	case depth > MaxTypeDepth: // lists of themselves: better checked once too often
		return true
	case from.Kind == OneOfType || from.Kind == UnionType:
		for _, v := range from.Variants {
			if isMember(from, v) && unchecked(v, to, depth+1) {
				return true
			}
		}
	case to.Kind == OneOfType || to.Kind == UnionType:
		for _, v := range to.Variants {
			if isMember(to, v) && assignable(from, v, "") == nil && !unchecked(from, v, depth+1) {
				return false
			}
		}
		return true
	case from.Kind == to.Kind && (from.Kind == ListType || from.Kind == DictType):
		return len(to.Variants) > 0 || unchecked(from.Elem, to.Elem, depth+1)
	}
	return false
}

// Join returns the type that covers all the given ones when it needs no declaration: the
// type itself when they agree, or the declared union that holds them all as variants
// (unions lists the candidates in order). It reports false otherwise.
func Join(types []*Type, unions []*Type) (*Type, bool) {
	if len(types) == 0 {
		return nil, false
	}
	for _, cand := range types { // one of them may cover the rest
		if coversAll(cand, types) {
			return cand, true
		}
	}
	for _, u := range unions {
		if coversAll(u, types) {
			return u, true
		}
	}
	return nil, false
}

func coversAll(to *Type, types []*Type) bool {
	for _, t := range types {
		if assignable(t, to, "") != nil || Unchecked(t, to) {
			return false
		}
	}
	return true
}
