package generable

import (
	"fmt"
	"slices"
	"strconv"
)

// Reason is one reason why a type is not assignable to another.
type Reason struct {
	Path     string // location inside the types: "", "[]", ".items[]"
	From, To *Type  // the pair that does not fit
	Text     string // the cause in words
}

func (r Reason) String() string {
	if r.Path == "" {
		return r.Text
	}
	return r.Path + ": " + r.Text
}

// Assignable reports why a value of type from may not flow to a place that wants type to; no reasons mean that it
// may. It is total and looks through generics: a variant fits its union, T fits T | None, lists and dicts fit by
// element, an enum fits str. Any fits everywhere and is checked at run time (see [Unchecked]), and so are limits.
// Numbers are not widened here: the decoder and constructors do that, a composition boundary does not.
func Assignable(from, to *Type) []Reason {
	why, _ := assignable(from, to)
	return why
}

// Unchecked reports whether an assignable pair is only proven at run time, because the source contains any where the
// target is more specific.
func Unchecked(from, to *Type) bool {
	_, unchecked := assignable(from, to)
	return unchecked
}

func assignable(from, to *Type) (why []Reason, unchecked bool) {
	var a assigner
	return a.assign(from, to, "")
}

// assigner remembers the pairs of types that fit and whether only run time proves it. A type such as a str or a list
// of itself leads back to a pair that is still being compared. That pair is assumed to fit and to need a check at run
// time, which may be one check too many: only something else on the way can be a reason against it.
type assigner struct {
	fits  map[[2]*Type]bool
	unfit map[[2]*Type]bool
	among int // depth of unions of which one variant must fit: why the others do not is not reported
}

func (a *assigner) assign(from, to *Type, path string) (why []Reason, unchecked bool) {
	limited := to.resolved().Kind == LimitType && from.Deref().Kind != ErrorType && !Same(from, to)
	loops := from.Kind == RefType || to.Kind == RefType
	from, to = from.Deref(), to.Deref()
	shared := a.among > 0 && from.hasParts() && to.hasParts() // composite types share parts with each other
	if !shared && (!loops || from.IsNominal() && to.IsNominal()) {
		why, unchecked = a.compare(from, to, path)
		return why, unchecked || limited
	}
	pair := [2]*Type{from, to}
	if unchecked, known := a.fits[pair]; known {
		return nil, unchecked || limited
	}
	if a.unfit[pair] {
		return noFit, false
	}
	if a.fits == nil {
		a.fits = make(map[[2]*Type]bool)
	}
	a.fits[pair] = true
	if why, unchecked = a.compare(from, to, path); why != nil {
		delete(a.fits, pair)
		if shared {
			if a.unfit == nil {
				a.unfit = make(map[[2]*Type]bool)
			}
			a.unfit[pair], why = true, noFit
		}
	} else {
		a.fits[pair] = unchecked
	}
	return why, unchecked || limited
}

// noFit is the reason why a type does not fit one of several variants.
var noFit = []Reason{{}}

func (t *Type) hasParts() bool {
	return t.Kind == ListType || t.Kind == DictType || t.Kind == OneOfType
}

func (a *assigner) compare(from, to *Type, path string) (why []Reason, unchecked bool) {
	switch {
	case from.Kind == ErrorType || to.Kind == ErrorType || to.Kind == AnyType:
		return nil, false
	case from.Kind == AnyType:
		return nil, true
	case Same(from, to):
		return nil, false
	case from.Kind == OneOfType:
		return a.each(from, to, path)
	case to.Kind == OneOfType || to.Kind == UnionType:
		for _, v := range to.Variants {
			if apart(from, v) || !isMember(to, v) {
				continue
			}
			a.among++
			why, open := a.assign(from, v, path)
			a.among--
			if why == nil {
				if unchecked = true; !open {
					return nil, false
				}
			}
		}
		if unchecked {
			return nil, true
		}
		if from.Kind == UnionType { // a union fits where each of its variants does
			return a.each(from, to, path)
		}
	case from.Kind == UnionType:
		return a.each(from, to, path)
	case from.Kind == ListType && to.Kind == ListType:
		for i := range max(len(from.Variants), len(to.Variants)) {
			if why, _ := a.assign(from.item(i), to.item(i), path+"["+strconv.Itoa(i)+"]"); why != nil {
				return why, false
			}
		}
		why, unchecked = a.assign(from.Elem, to.Elem, path+"[]")
		return why, unchecked || len(to.Variants) > 0
	case from.Kind == DictType && to.Kind == DictType:
		return a.assign(from.Elem, to.Elem, path+"[str]")
	case from.Kind == EnumType && to.Kind == StrType:
		return nil, false
	}
	if a.among > 0 {
		return noFit, false
	}
	return []Reason{{Path: path, From: from, To: to, Text: difference(from, to)}}, false
}

// apart reports whether two types are different schemas or different enums, so that no value belongs to both. The
// check is frequent among hundreds of variants.
func apart(a, b *Type) bool {
	b = b.Deref()
	return a.Kind == b.Kind && (a.Kind == RecordType || a.Kind == EnumType) && !Same(a, b)
}

// each collects the reasons why the members of a union do not fit to.
func (a *assigner) each(from, to *Type, path string) (why []Reason, unchecked bool) {
	for _, v := range from.Variants {
		if isMember(from, v) {
			more, open := a.assign(v, to, path)
			why, unchecked = append(why, more...), unchecked || open
		}
	}
	return why, unchecked
}

// isMember reports whether v can be a member of u. A reference inside a declared union may resolve to a union, even
// the same one. [Type.Verify] reports that, and following it would never end.
func isMember(u, v *Type) bool { return u.Kind != UnionType || v.Deref().Kind != UnionType }

func difference(from, to *Type) string {
	if from.IsNominal() && to.IsNominal() && from.Name == to.Name {
		return fmt.Sprintf("two different types are named %s", from.Name)
	}
	return fmt.Sprintf("%s is not %s", from, to)
}

// Join returns a type that covers all the given ones and needs no declaration: the type itself when they agree, or
// the declared union that has them all as variants (unions lists the candidates in order). It reports false
// otherwise.
func Join(types []*Type, unions []*Type) (*Type, bool) {
	if len(types) == 0 {
		return nil, false
	}
	for _, to := range slices.Concat(types, unions) {
		if !slices.ContainsFunc(types, func(t *Type) bool {
			why, unchecked := assignable(t, to)
			return why != nil || unchecked
		}) {
			return to, true
		}
	}
	return nil, false
}
