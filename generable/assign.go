package generable

import "fmt"

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
func Assignable(from, to *Type) []Reason { return assignable(from, to, "") }

func assignable(from, to *Type, path string) []Reason {
	from, to = from.Deref(), to.Deref()
	switch {
	case from.Kind == ErrorType || to.Kind == ErrorType || from.Kind == AnyType || to.Kind == AnyType:
		return nil
	case Same(from, to):
		return nil
	case from.Kind == OneOfType:
		return assignEach(from, to, path)
	case to.Kind == OneOfType || to.Kind == UnionType:
		for _, v := range to.Variants {
			if isMember(to, v) && assignable(from, v, path) == nil {
				return nil
			}
		}
		if from.Kind == UnionType { // a union fits where each of its variants does
			return assignEach(from, to, path)
		}
	case from.Kind == UnionType:
		return assignEach(from, to, path)
	case from.Kind == ListType && to.Kind == ListType:
		return assignable(from.Elem, to.Elem, path+"[]")
	case from.Kind == DictType && to.Kind == DictType:
		return assignable(from.Elem, to.Elem, path+"[str]")
	case from.Kind == EnumType && to.Kind == StrType:
		return nil
	}
	return []Reason{{Path: path, From: from, To: to, Text: mismatch(from, to)}}
}

// assignEach gathers why the members of a union do not fit to.
func assignEach(from, to *Type, path string) []Reason {
	var out []Reason
	for _, v := range from.Variants {
		if isMember(from, v) {
			out = append(out, assignable(v, to, path)...)
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
func Unchecked(from, to *Type) bool {
	from, to = from.Deref(), to.Deref()
	switch {
	case to.Kind == AnyType || from.Kind == ErrorType || to.Kind == ErrorType:
		return false
	case from.Kind == AnyType:
		return true
	case Same(from, to):
		return false
	case from.Kind == OneOfType || from.Kind == UnionType:
		for _, v := range from.Variants {
			if isMember(from, v) && Unchecked(v, to) {
				return true
			}
		}
	case to.Kind == OneOfType || to.Kind == UnionType:
		for _, v := range to.Variants {
			if isMember(to, v) && assignable(from, v, "") == nil && !Unchecked(from, v) {
				return false
			}
		}
		return true
	case from.Kind == to.Kind && (from.Kind == ListType || from.Kind == DictType):
		return Unchecked(from.Elem, to.Elem)
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
