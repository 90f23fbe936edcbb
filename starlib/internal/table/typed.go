package table

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// TypedKind takes what a type of the engine accepts, converted as a call of the type converts it.
func TypedKind(t *generable.Type) *Kind {
	return &Kind{Word: t.String(), Stub: stubOf(t), Accept: func(v starlark.Value) (starlark.Value, bool) {
		d, err := value.ToData(v)
		if err != nil {
			return v, false
		}
		out, errs := t.Convert(d)
		if errs != nil {
			return v, false
		}
		return value.FromData(out), true
	}}
}

// stubOf returns a type as the stub writes it: Any for what editors do not know.
func stubOf(t *generable.Type) string {
	switch t = t.Deref(); t.Kind {
	case generable.StrType, generable.IntType, generable.FloatType, generable.BoolType:
		return t.String()
	case generable.ListType:
		return "list[" + stubOf(t.Elem) + "]"
	case generable.DictType:
		return "dict[str, " + stubOf(t.Elem) + "]"
	case generable.OneOfType:
		parts := text.Each(t.Variants, stubOf)
		return strings.Join(parts, " | ")
	case generable.NoneType:
		return "None"
	}
	return "Any"
}
