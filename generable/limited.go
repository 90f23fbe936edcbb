package generable

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// Limited returns the type of those values of t that keep the limits. Limits of a schema's
// field are written with the field; Limited serves where there is none: for the items of a
// list, a member of an inline union, the root.
//
// What is wrong with the limits is left out and told; when nothing is left of them, the
// result is t itself.
func Limited(t *Type, l Limits) (*Type, FieldErrors) {
	limits, errs := l.validated(t, nil)
	if limits == nil {
		return t, errs
	}
	return &Type{Kind: LimitType, Elem: t, Limits: limits, depth: t.depth}, errs
}

// TupleType returns the type of lists whose first items have the given types, each its own.
// Items behind those have one of these types, or rest where it is not nil. How many there are
// is a matter of [Limits].
func TupleType(items []*Type, rest *Type) *Type {
	all := slices.Clone(items)
	if rest != nil {
		all = append(all, rest)
	}
	t := ListOfType(OneOf(all...))
	t.Variants = items
	return t
}

// absent is the value of a field that was not given and has no default. It is None to all who
// look, and left out of JSON.
var absent = Value{n: 1}

func isAbsent(v Value) bool { return v.kind == Null && v.n != 0 }

// OmittedField makes a field one that may be left out although its type does not accept None:
// read from an object without it, the field is None, and JSON leaves it out again.
func OmittedField(f Field) Field {
	if f.Type.Deref().Kind != AnyType {
		f.Type = OneOf(f.Type, NoneT)
	}
	f.Optional, f.Default, f.Omit = true, absent, true
	return f
}

// nullMeansAbsent reports whether None for a field says that there is none.
func (f *Field) nullMeansAbsent() bool { return f.Omit && f.Type.Deref().Kind != AnyType }

// shown is the type of the field for those who write its values.
func (f *Field) shown() *Type {
	t := f.Type.resolved()
	if !f.Omit || t.Kind != OneOfType {
		return f.Type
	}
	return OneOf(slices.DeleteFunc(slices.Clone(t.Variants), func(v *Type) bool { return v.Kind == NoneType })...)
}

// allows reports whether v is one of the only values there are.
func (l *Limits) allows(v Value) bool {
	return slices.ContainsFunc(l.Only.Items(), func(o Value) bool { return Equal(v, o) })
}

// checkMore is the part of check that few types need.
func (l *Limits) checkMore(v Value, at *message.Path, errs FieldErrors) FieldErrors {
	broken := func(want, got string) {
		errs = append(errs, newFieldError(at.String(), want, got, ""))
	}
	if l.MultipleOf != nil && !isMultiple(v, *l.MultipleOf) {
		broken("a multiple of "+formatBound(*l.MultipleOf), JSON(v, nil))
	}
	if l.Unique && v.kind == ListKind {
		if i, j := twice((*List)(v.p).Items()); j > 0 {
			broken("items that are all different", "item "+strconv.Itoa(j)+" like item "+strconv.Itoa(i))
		}
	}
	if l.Only != nil && !l.allows(v) {
		broken(message.OneOf(l.onlyTexts()), message.Shorten(JSON(v, nil)))
	}
	return errs
}

func (l *Limits) onlyTexts() []string {
	out := make([]string, len(l.Only.Items()))
	for i, v := range l.Only.Items() {
		out[i] = message.Shorten(JSON(v, nil))
	}
	return out
}

// isMultiple is exact: both numbers are taken as the decimals they are written as.
func isMultiple(v Value, of float64) bool {
	if i, ok := v.AsInt(); ok && of >= 1 && of < 1<<53 && of == float64(int64(of)) {
		return i%int64(of) == 0
	}
	switch v.kind {
	case Int, Big, Float:
	default:
		return true
	}
	x, ok := new(big.Rat).SetString(JSON(v, nil))
	y, ok2 := new(big.Rat).SetString(strconv.FormatFloat(of, 'g', -1, 64))
	return ok && ok2 && x.Quo(x, y).IsInt()
}

// twice finds two items that are equal.
func twice(items []Value) (first, second int) {
	seen := make(map[string]int, len(items))
	var b []byte
	for i, v := range items {
		if w, ok := exactInt(v); ok {
			v = w
		}
		b = AppendCanon(b[:0], v)
		if j, ok := seen[string(b)]; ok {
			return j, i
		}
		seen[string(b)] = i
	}
	return 0, 0
}

// unlimited takes the limits off a type that a field will carry itself.
func unlimited(t *Type) (*Type, *Limits) {
	switch {
	case t.Kind == LimitType:
		return t.Elem, t.Limits
	case t.Kind == OneOfType && len(t.Variants) == 2 && t.Variants[0].Kind == LimitType && t.Variants[1].Kind == NoneType && t.Variants[0].Limits.Only == nil:
		return OneOf(t.Variants[0].Elem, NoneT), t.Variants[0].Limits
	}
	return t, nil
}
