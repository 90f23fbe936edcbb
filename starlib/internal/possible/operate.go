package possible

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Try makes the interpreter try an operator on samples. It reports whether the operator fails because of their types.
func Try(op syntax.Token, x, y *Alt) (*Value, bool) {
	a, c := x.operand(op), y.operand(op)
	if a == nil || c == nil {
		return Unknown, false
	}
	switch op {
	case syntax.EQL, syntax.NEQ:
		return OfKind(Boolean), false
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		_, err := starlark.Compare(op, a, c)
		return OfKind(Boolean), err != nil
	case syntax.PERCENT:
		if x.Kind == Text {
			return OfKind(Text), false
		}
	}
	r, err := starlark.Binary(op, a, c)
	if err != nil {
		return Unknown, strings.HasPrefix(err.Error(), "unknown binary op") || strings.Contains(err.Error(), "in <string>") || isOrderless(err)
	}
	return OfSample(r), false
}

// operand returns the sample of an alternative for an operator. A node is its own sample if the operator composes
// nothing.
func (a *Alt) operand(op syntax.Token) starlark.Value {
	if n, ok := a.Exact.(*value.Node); ok && op != syntax.GTGT && op != syntax.SLASH && op != syntax.STAR {
		return n
	}
	return a.Sample()
}

// isCalled reports whether an alternative is a node or a function, which is probably meant to be called.
func (a *Alt) isCalled() bool {
	_, node := a.Exact.(*value.Node)
	return node || a.Kind == Function
}

// isData reports whether an alternative is a JSON value other than None.
func (a *Alt) isData() bool {
	switch a.Kind {
	case Boolean, Integer, Float, Text, List, Dict, Record:
		return true
	}
	return false
}

// DividesByZero reports whether an operation certainly divides a number by 0. An unknown value may be a number; before
// a % it may also be a text.
func DividesByZero(op syntax.Token, x, y *Value) bool {
	other := func(a Alt) bool { return a.Kind != Integer && a.Kind != Float }
	switch {
	case !x.Any && len(x.Alts) == 0:
		return false
	case op != syntax.SLASH && op != syntax.SLASHSLASH && (op != syntax.PERCENT || x.Any):
		return false
	}
	return !slices.ContainsFunc(x.Alts, other) && All(y, func(a *Alt) bool { return !other(*a) && a.Truth() == NoTruth })
}

// MayEqual reports whether two values may be equal, judging by their types and, for a text of an enum, by the enum's
// values. None may be compared with anything.
func MayEqual(x, y *Alt) bool {
	if x.Kind == Float {
		x = &Alt{Kind: Integer}
	}
	if y.Kind == Float {
		y = &Alt{Kind: Integer}
	}
	if x.isCalled() && y.isData() || y.isCalled() && x.isData() {
		return false
	}
	for _, a := range []*Alt{x, y} {
		if a.Kind == Unset || a.Kind == None || a.Kind == Thing || a.Kind == Function {
			return true
		}
	}
	for _, pair := range [][2]*Alt{{x, y}, {y, x}} {
		word, ok := pair[1].Exact.(starlark.String)
		if t := pair[0].Typ; ok && t != nil && t.Deref().Kind == generable.EnumType && t.Conforms(generable.StrOf(string(word))) != nil {
			return false
		}
	}
	return x.Kind == y.Kind
}

func isOrderless(err error) bool {
	_, ok := err.(orderless)
	return ok
}

func CmpOr[T any](when bool, v, otherwise T) T {
	if when {
		return v
	}
	return otherwise
}

// Joined returns the union of the items of two containers.
func Joined(x, y *Value) *Value {
	if x == nil || y == nil {
		return nil
	}
	return Unite(x, y, 0)
}

// Unhashable reports whether an alternative certainly cannot be a key of a dict.
func (a *Alt) Unhashable() bool {
	switch a.Kind {
	case List, Dict, Set, Ranged:
		return true
	case Tuple:
		return slices.ContainsFunc(a.Items, func(item *Value) bool { return All(item, (*Alt).Unhashable) })
	}
	return false
}

// Item returns x[key] of an alternative. It reports whether that can succeed, and returns the key that may be
// missing.
func (a *Alt) Item(key *Value) (v *Value, ok bool, lacks *Entry) {
	number := func() bool {
		return !All(key, func(k *Alt) bool { return k.Kind != Integer && k.Kind != Thing })
	}
	if i, err := starlark.AsInt32(OrNone(key.Exactly())); err == nil && a.Items != nil {
		if i < 0 {
			i += len(a.Items)
		}
		if i < 0 || i >= len(a.Items) {
			return nil, false, nil
		}
		return a.Items[i], true, nil
	}
	switch a.Kind {
	case List, Bytes, Ranged:
		v = a.Elem
		ok = number()
	case Text:
		v, ok = OfKind(Text), number()
	case Tuple:
		ok = number()
	case Dict:
		if k := KeyOf(key.Exactly()); k != nil && a.Shape != nil {
			e := a.Shape.Find(k)
			if e == nil {
				return nil, false, nil
			}
			if e.Maybe {
				lacks = e
			}
			return e.Value, true, lacks
		}
		v, ok = a.Elem, !All(key, func(k *Alt) bool { return k.Kind == List || k.Kind == Dict || k.Kind == Set })
	case Record:
		name, isText := starlark.AsString(OrNone(key.Exactly()))
		if !isText {
			return Unknown, !All(key, func(k *Alt) bool { return k.Kind != Text && k.Kind != Thing }), nil
		}
		v := a.Field(name)
		return v, v != nil, nil
	case Thing, Unset:
		return Unknown, true, nil
	default:
		return nil, false, nil
	}
	return OrUnknown(v), ok, nil
}

// OrUnknown returns v, or Unknown if nothing was determined about the value.
func OrUnknown(v *Value) *Value {
	if v == nil || v == Nothing {
		return Unknown
	}
	return v
}

func OrNone(v starlark.Value) starlark.Value {
	if v == nil {
		return starlark.None
	}
	return v
}

// Each returns an item of an alternative, and reports whether it is iterable.
func (a *Alt) Each() (*Value, bool) {
	switch a.Kind {
	case List, Set, Ranged:
		if a.Elem == nil {
			return Unknown, true
		}
		return a.Elem, true
	case Dict:
		if a.Shape == nil {
			switch {
			case a.Elem == Nothing:
				return Nothing, true
			case a.Typ != nil:
				return OfKind(Text), true
			}
			return Unknown, true
		}
		out := Nothing
		for i := range a.Shape.Keys {
			out = Unite(out, OfValue(a.Shape.Keys[i].Key, "", 0), 0)
		}
		return out, true
	case Tuple:
		out := Nothing
		for _, item := range a.Items {
			out = Unite(out, item, 0)
		}
		return out, true
	case Thing:
		_, ok := a.Exact.(starlark.Iterable)
		return Unknown, ok
	case Unset:
		return Unknown, true
	}
	_, ok := a.Sample().(starlark.Iterable)
	return Unknown, ok
}

// Filled reports whether there is certainly at least one item.
func (a *Alt) Filled() bool { return a.Some || a.Kind == Tuple && len(a.Items) > 0 }
