package possible

import (
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

// Fits reports whether an alternative is accepted where a type is expected.
func Fits(a *Alt, want *generable.Type, depth int) bool {
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
		switch a.Exact.(type) {
		case *value.Node, *value.Type:
			return false
		}
		return true
	case Function, Bytes, Set:
		return false
	case Tuple, Ranged: // treated as lists
		return want.Kind == generable.ListType
	case Text:
		if s, ok := a.Exact.(starlark.String); ok && want.Kind == generable.EnumType {
			return want.Conforms(generable.StrOf(string(s))) == nil
		}
	case Dict:
		if want.Kind == generable.RecordType && a.Shape != nil && depth < 4 {
			unknown, missing, wrong := Against(a.Shape, want, depth)
			return len(unknown)+len(missing) == 0 && wrong == nil
		}
	case List:
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
			return nil, nil, nil // reported as another kind of error
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
