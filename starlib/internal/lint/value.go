package lint

import (
	"math/big"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// literal returns the value of a literal expression.
func literal(e syntax.Expr) (generable.Value, bool) {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return literal(e.X)
	case *syntax.Literal:
		switch v := e.Value.(type) {
		case string:
			return generable.StrOf(v), e.Token == syntax.STRING
		case int64:
			return generable.IntOf(v), true
		case *big.Int:
			out, err := value.ToData(starlark.MakeBigInt(v))
			return out, err == nil
		case float64:
			return generable.FloatOf(v)
		}
	case *syntax.UnaryExpr:
		if x, ok := literal(e.X); ok && e.Op == syntax.MINUS {
			if i, isInt := x.AsInt(); isInt {
				return generable.IntOf(-i), true
			}
			if f, isFloat := x.AsFloat(); isFloat {
				return generable.FloatOf(-f)
			}
		}
	case *syntax.ListExpr:
		items := make([]generable.Value, len(e.List))
		for i, item := range e.List {
			v, ok := literal(item)
			if !ok {
				return generable.Value{}, false
			}
			items[i] = v
		}
		return generable.NewList(items).Value(), true
	case *syntax.DictExpr:
		m := generable.NewMap(len(e.List))
		for _, entry := range e.List {
			entry := entry.(*syntax.DictEntry)
			key, ok := literal(entry.Key)
			name, isStr := key.AsStr()
			v, known := literal(entry.Value)
			if !ok || !isStr || !known {
				return generable.Value{}, false
			}
			m.Set(name, v)
		}
		return m.Value(), true
	case *syntax.Ident:
		if b, ok := e.Binding.(*resolve.Binding); ok && b.Scope == resolve.Universal {
			switch e.Name {
			case "True", "False":
				return generable.BoolOf(e.Name == "True"), true
			case "None":
				return generable.Value{}, true
			}
		}
	}
	return generable.Value{}, false
}

// written returns the value that an expression certainly has in a function of the file: that of a literal, a global, a
// loaded name, or a builtin. Inside a list, stand-ins replace unknown items.
func written(c *script.State, u *script.Unit, e syntax.Expr) (starlark.Value, bool) {
	switch x := e.(type) {
	case *syntax.ParenExpr:
		return written(c, u, x.X)
	case *syntax.Ident:
		b, ok := x.Binding.(*resolve.Binding)
		if !ok {
			return nil, false
		}
		switch b.Scope {
		case resolve.Global:
			v := u.Globals[x.Name]
			return v, v != nil
		case resolve.Predeclared:
			v := c.Predeclared[x.Name]
			return v, v != nil
		case resolve.Universal:
			v := starlark.Universe[x.Name]
			return v, v != nil
		case resolve.Free, resolve.Local, resolve.Cell:
			v := u.Loaded[b.First]
			return v, v != nil
		}
		return nil, false
	case *syntax.ListExpr:
		items := make([]starlark.Value, len(x.List))
		for i, item := range x.List {
			v, ok := written(c, u, item)
			if !ok {
				v = &value.Failed{}
			}
			items[i] = v
		}
		return starlark.NewList(items), true
	}
	v, ok := literal(e)
	if !ok {
		return nil, false
	}
	return value.FromData(v), true
}
