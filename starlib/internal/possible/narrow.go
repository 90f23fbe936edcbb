package possible

import (
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/starlib/internal/doc"
)

// NarrowField returns the value with a field of its instances narrowed, or nil if none of them remains.
func (on *Value) NarrowField(name string, narrower func(v *Value) *Value) *Value {
	out := &Value{Any: on.Any}
	for _, a := range on.Alts {
		if a.Kind == Record && a.Field(name) != nil {
			was := a.Field(name)
			v := narrower(was)
			switch {
			case v == nil || !v.Any && len(v.Alts) == 0:
				continue
			case v != was:
				a.Fields = a.Fields.With(name, Unmarked(v))
				a = settled(a)
			}
		}
		out.Alts = append(out.Alts, a)
	}
	if !out.Any && len(out.Alts) == 0 {
		return nil
	}
	return out
}

// settled adds what the fields of an outcome imply about each other: it has either a value or an error.
func settled(a Alt) Alt {
	decoded, _ := doc.Result("Decoded")
	if !flow.IsAttempt(a.Typ) && a.Typ != decoded {
		return a
	}
	isNone := func(a *Alt) bool { return a.Kind == None }
	ok := a.Field("ok").Truth()
	if err := a.Field("error"); err != nil && ok == Maybe {
		switch {
		case All(err, isNone):
			ok = YesTruth
		case All(err, func(a *Alt) bool { return !isNone(a) }):
			ok = NoTruth
		}
	}
	if ok == Maybe {
		return a
	}
	a.Fields = a.Fields.With("ok", One(Alt{Kind: Boolean, Exact: starlark.Bool(ok == YesTruth)}))
	if err := a.Field("error"); err != nil {
		if ok == YesTruth {
			a.Fields = a.Fields.With("error", OfKind(None))
		} else if set := err.Without(isNone); set != nil {
			a.Fields = a.Fields.With("error", set)
		}
	}
	if ok == NoTruth {
		a.Fields = a.Fields.With("value", OfKind(None))
		return a
	}
	declared := OfType(a.Typ.Fields[a.Typ.FieldIndex("value")].Type, "").Without(isNone).Type()
	if set := a.Field("value").Without(isNone); set != nil && (a.Typ == decoded || declared != nil && flow.AttemptOf(declared).Name == a.Typ.Name) { // otherwise None is a value
		a.Fields = a.Fields.With("value", set)
	}
	return a
}

// Literal returns the value of a literal.
func Literal(x *syntax.Literal) *Value {
	switch v := x.Value.(type) {
	case string:
		if x.Token == syntax.STRING {
			return One(Alt{Kind: Text, Exact: starlark.String(v)})
		}
		return OfKind(Bytes)
	case int64:
		return One(Alt{Kind: Integer, Exact: starlark.MakeInt64(v)})
	case *big.Int:
		return OfKind(Integer)
	case float64:
		return One(Alt{Kind: Float, Exact: starlark.Float(v)})
	}
	return Unknown
}
