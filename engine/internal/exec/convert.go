package exec

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// IsOf reports whether v is of type t. A record, the common case, is told without listing what
// speaks against it.
func IsOf(v generable.Value, t *generable.Type) bool {
	if r, ok := v.AsRecord(); ok {
		if t = t.Deref(); t.Kind == generable.RecordType {
			return generable.Same(r.Type(), t)
		}
	}
	return t.Conforms(v) == nil
}

// Converted checks a callback's result against its declared type; like a constructor it
// widens int to float and makes instances of dicts.
func Converted(v generable.Value, t *generable.Type, who string) (generable.Value, error) {
	if t.Kind == generable.AnyType || IsOf(v, t) {
		return v, nil
	}
	out, errs := t.Convert(v)
	if errs != nil {
		return v, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "%s is to give %s: %w; it gave %s", who, t, errs, Shown(v))
	}
	return out, nil
}

// Shown is a value as an error shows it.
func Shown(v generable.Value) string { return text.Clip(generable.JSON(v, nil), engine.MaxShown) }
