package possible

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Is reports whether an alternative is a value of a type.
func (a *Alt) Is(t *generable.Type) truth {
	t = t.Deref()
	own := a.declared()
	switch {
	case t.Kind == generable.AnyType:
		return YesTruth
	case own == nil, a.Kind == List, a.Kind == Dict, t.Kind == generable.ErrorType, t.Kind == generable.RefType, t.Kind == generable.EnumType && a.Kind == Text:
		return Maybe
	case generable.Assignable(own, t) == nil:
		return YesTruth
	case script.Conflict(own, t):
		return NoTruth
	}
	return Maybe
}

// Data returns the data of a constant, and reports whether the alternative is a constant.
func (a *Alt) Data() (generable.Value, bool) {
	v := a.Exact
	if a.Kind != Float {
		if !a.IsConstant() {
			return generable.Value{}, false
		}
		v = a.Argument(0)
	}
	if v == nil {
		return generable.Value{}, false
	}
	out, err := value.ToData(v)
	return out, err == nil
}

// Misfit returns the error for a constant that a field of a schema does not accept, or nil for any other value.
func Misfit(a *Alt, of *generable.Type, field string) *generable.FieldError {
	v, ok := a.Data()
	if !ok {
		return nil
	}
	given := generable.NewMap(1)
	given.Set(field, v)
	_, errs := of.Construct(given)
	for _, e := range errs {
		if value.FirstStep(e.Path) == field {
			return e
		}
	}
	return nil
}

// FitsField reports whether a field of a schema accepts an alternative.
func FitsField(a *Alt, of *generable.Type, field string) bool {
	if _, constant := a.Data(); constant {
		return Misfit(a, of, field) == nil
	}
	return Fits(a, of.Fields[of.FieldIndex(field)].Type, 0)
}

// IsCode reports whether an alternative is a function, a node or a type, which are not data.
func (a *Alt) IsCode() bool {
	switch a.Exact.(type) {
	case *value.Node, *starlark.Builtin:
		return true
	case *value.Type:
		return a.Kind == Thing
	}
	return a.Kind == Function
}

// Fits reports whether an alternative is accepted where a type is expected.
func Fits(a *Alt, want *generable.Type, depth int) bool {
	if v, constant := a.Data(); constant {
		_, errs := want.Convert(v)
		return errs == nil
	}
	want = want.Deref()
	switch want.Kind {
	case generable.AnyType, generable.ErrorType, generable.RefType:
		return true
	case generable.UnionType, generable.OneOfType:
		for _, v := range want.Variants {
			if v.Deref() == want || Fits(a, v, depth+1) {
				return true
			}
		}
		return false
	}
	switch a.Kind {
	case Unset:
		return true
	case Thing:
		return !a.IsCode()
	case Function, Bytes, Set:
		return false
	case Tuple, Ranged: // treated as lists
		return want.Kind == generable.ListType
	case Dict:
		if want.Kind == generable.RecordType && a.Shape != nil && depth < 4 {
			unknown, missing, wrong := Against(a.Shape, want, depth)
			return len(unknown)+len(missing) == 0 && wrong == nil
		}
		if want.Kind == generable.DictType && a.Shape != nil && depth < 4 && slices.ContainsFunc(a.Shape.Keys, func(e Entry) bool {
			return !e.Maybe && All(e.Value, func(a *Alt) bool { return !Fits(a, want.Elem, depth+1) })
		}) {
			return false
		}
	case List:
		if want.Kind == generable.ListType && len(want.Variants) == 0 && slices.ContainsFunc(a.Items, func(item *Value) bool {
			return depth < 4 && All(item, func(a *Alt) bool { return !Fits(a, want.Elem, depth+1) })
		}) {
			return false
		}
		if want.Kind == generable.ListType && !a.Some {
			return true // it may be empty
		}
	}
	own := a.declared()
	return own == nil || !script.Conflict(own, want)
}

// Against compares the keys of a dict with the fields of a schema.
func Against(s *Shape, t *generable.Type, depth int) (extra, missing []string, wrong *Entry) {
	for i := range s.Keys {
		e := &s.Keys[i]
		name, ok := e.Key.(starlark.String)
		if !ok {
			return nil, nil, nil // it is reported as another kind of error
		}
		field := t.FieldIndex(string(name))
		switch {
		case field < 0 && !e.Maybe:
			extra = append(extra, string(name))
		case field >= 0 && !e.Maybe && wrong == nil && All(e.Value, func(a *Alt) bool { return !Fits(a, t.Fields[field].Type, depth+1) }):
			wrong = e
		}
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Required() && s.Find(starlark.String(f.Name)) == nil {
			missing = append(missing, f.Name)
		}
	}
	return extra, missing, wrong
}
