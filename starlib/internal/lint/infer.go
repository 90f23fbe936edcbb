package lint

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// inference tells the types of expressions in one outermost function of a file, where they are
// certain: of literals, of what nodes and types give, and of names that are bound once, there
// and in the functions within. A name means nothing certain when anything else binds it.
type inference struct {
	c     *script.State
	u     *script.Unit
	names map[string]*bound
	types map[syntax.Expr]*generable.Type // of chains, each of whose links is asked for
	depth int                             // of names that are made of names
}

// deepestName bounds how far a type is followed from name to name.
const deepestName = 1000

// bound is how a name gets its value.
type bound struct {
	times int
	from  syntax.Expr     // its value, or
	item  bool            // a list of which it is an item, or
	typ   *generable.Type // what declares it
	seen  bool
	is    *generable.Type // once it was asked for
}

// infer collects the names of a function. The types of its parameters are the given ones, or else
// what the graph calls it with, as those of functions within.
func infer(c *script.State, u *script.Unit, fn syntax.Node, params []*generable.Type) *inference {
	in := &inference{c: c, u: u, names: map[string]*bound{}, types: map[syntax.Expr]*generable.Type{}}
	typesOf := func(n syntax.Node) []*generable.Type {
		if n == fn && params != nil {
			return params
		}
		return u.Params[n]
	}
	syntax.Walk(fn, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			in.assigned(n)
		case *syntax.ForStmt:
			in.bind(n.Vars, bound{from: n.X, item: true})
		case *syntax.ForClause:
			in.bind(n.Vars, bound{from: n.X, item: true})
		case *syntax.DefStmt:
			if n != fn {
				in.bind(n.Name, bound{})
			}
			in.params(n.Params, typesOf(n))
		case *syntax.LambdaExpr:
			in.params(n.Params, typesOf(n))
		case *syntax.CallExpr: // a type that is asked for is not certain
			if id, ok := n.Fn.(*syntax.Ident); ok && (id.Name == "hasattr" || id.Name == "isinstance") {
				for _, arg := range n.Args {
					in.bind(arg, bound{})
					in.bind(arg, bound{})
				}
			}
		}
		return true
	})
	return in
}

func (in *inference) assigned(n *syntax.AssignStmt) {
	if _, single := n.LHS.(*syntax.Ident); single && n.Op == syntax.EQ {
		in.bind(n.LHS, bound{from: n.RHS})
		return
	}
	in.bind(n.LHS, bound{}) // one of several, or changed
	if n.Op != syntax.EQ {
		in.bind(n.LHS, bound{})
	}
}

func (in *inference) params(params []syntax.Expr, types []*generable.Type) {
	for i, p := range params {
		var b bound
		if i < len(types) {
			b.typ = types[i]
		}
		if startree.ArgOf(p).Spread != 0 {
			b = bound{}
		}
		if id := startree.ParamName(p); id != nil {
			in.bind(id, b)
		}
	}
}

// bind counts the names of what is assigned to.
func (in *inference) bind(e syntax.Expr, b bound) {
	if startree.Elements(e) != nil {
		b = bound{} // one of several
	}
	startree.Targets(e, func(e syntax.Expr) {
		id, ok := e.(*syntax.Ident)
		if !ok {
			return
		}
		if old := in.names[id.Name]; old != nil {
			old.times++
			return
		}
		own := b
		own.times = 1
		in.names[id.Name] = &own
	})
}

// TypeOf is the type of an expression, nil when it is not certain.
func (in *inference) typeOf(e syntax.Expr) *generable.Type {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return in.typeOf(e.X)
	case *syntax.Literal:
		switch e.Value.(type) {
		case string:
			if e.Token == syntax.STRING {
				return generable.StrT
			}
		case float64:
			return generable.FloatT
		default:
			return generable.IntT
		}
	case *syntax.Ident:
		return in.nameType(e)
	case *syntax.BinaryExpr:
		return in.binaryType(e)
	case *syntax.DotExpr, *syntax.IndexExpr, *syntax.CallExpr:
		t, ok := in.types[e]
		if !ok {
			t = in.linkType(e)
			in.types[e] = t
		}
		return t
	}
	return nil
}

// linkType is the type of a field, an item or the result of a call.
func (in *inference) linkType(e syntax.Expr) *generable.Type {
	switch e := e.(type) {
	case *syntax.DotExpr:
		if t := in.typeOf(e.X); t != nil && t.Kind == generable.RecordType {
			if i := t.FieldIndex(e.Name.Name); i >= 0 {
				return t.Fields[i].Type.Deref()
			}
		}
	case *syntax.IndexExpr:
		if t := in.typeOf(e.X); t != nil && (t.Kind == generable.ListType || t.Kind == generable.DictType) {
			return t.Elem.Deref()
		}
	case *syntax.CallExpr:
		return in.callType(e)
	}
	return nil
}

func (in *inference) nameType(id *syntax.Ident) *generable.Type {
	if b, ok := id.Binding.(*resolve.Binding); !ok || b.Scope == resolve.Global || b.Scope == resolve.Predeclared || b.Scope == resolve.Universal {
		return nil
	}
	b := in.names[id.Name]
	switch {
	case b == nil || b.times != 1:
		return nil
	case b.typ != nil:
		return b.typ.Deref()
	case b.seen || b.from == nil:
		return b.is // nil for a name that is made of itself
	}
	if in.depth >= deepestName {
		return nil // names hang on each other for as long as the script is
	}
	b.seen = true
	in.depth++
	t := in.typeOf(b.from)
	in.depth--
	if b.item && t != nil {
		if t.Kind != generable.ListType {
			return nil
		}
		t = t.Elem.Deref()
	}
	b.is = t
	return t
}

// binaryType knows what gives a text, and comparisons.
func (in *inference) binaryType(e *syntax.BinaryExpr) *generable.Type {
	switch e.Op {
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.IN, syntax.NOT_IN:
		return generable.BoolT
	case syntax.PERCENT:
		if in.typeOf(e.X) == generable.StrT {
			return generable.StrT
		}
	case syntax.PLUS: // as long as the file, so no recursion on its left
		for {
			if in.typeOf(e.Y) == generable.StrT {
				return generable.StrT
			}
			left, ok := e.X.(*syntax.BinaryExpr)
			if !ok || left.Op != syntax.PLUS {
				break
			}
			e = left
		}
		if in.typeOf(e.X) == generable.StrT {
			return generable.StrT
		}
	}
	return nil
}

// callType is what a node, a type, or an orchestrated node gives.
func (in *inference) callType(e *syntax.CallExpr) *generable.Type {
	if dot, ok := e.Fn.(*syntax.DotExpr); ok {
		switch dot.Name.Name {
		case "format", "join", "strip", "upper", "lower", "title", "replace":
			if in.typeOf(dot.X) == generable.StrT {
				return generable.StrT
			}
		}
		return in.touchType(dot)
	}
	fn, ok := written(in.c, in.u, e.Fn)
	if !ok {
		return nil
	}
	if t := given(fn); t != nil {
		return t
	}
	b, ok := fn.(*starlark.Builtin)
	if ok && b.Name() == "approve" && in.c.Predeclared["approve"] == fn {
		return engine.ApprovalType
	}
	if !ok || len(e.Args) == 0 || in.c.Predeclared[b.Name()] != fn {
		return nil
	}
	policy := slices.ContainsFunc(e.Args, func(arg syntax.Expr) bool {
		a := startree.ArgOf(arg)
		return a.Name != nil && a.Name.Name == "on_error"
	})
	called := e.Args[0]
	if b.Name() == "stream" {
		called = e.Args[len(e.Args)-1]
		if startree.ArgOf(called).Name != nil {
			return nil
		}
	}
	f, _ := written(in.c, in.u, called)
	one := given(f)
	if one == nil {
		return nil
	}
	switch b.Name() {
	case "parallel", "stream":
		if policy {
			return nil // attempts, it may be
		}
		return generable.ListOfType(one)
	case "attempt":
		return flow.AttemptOf(one)
	case "retry":
		return one
	}
	return nil
}

// given is what a call of a node or a type surely gives, nil for anything else.
func given(f starlark.Value) *generable.Type {
	var t *generable.Type
	switch f := f.(type) {
	case *value.Node:
		if f.Node.Failed() {
			return nil
		}
		t = f.Node.Out()
	case *value.Type:
		t = f.T
	default:
		return nil
	}
	if t = t.Deref(); t.Kind == generable.AnyType || t.Kind == generable.ErrorType || t.Kind == generable.RefType {
		return nil
	}
	return t
}

// conflict reports whether no value of one type can be given where another is taken, also not by
// way of the conversions that a call makes: int and float, a dict for an instance.
func conflict(from, to *generable.Type) bool {
	if generable.Assignable(from, to) == nil {
		return false
	}
	from, to = from.Deref(), to.Deref()
	for _, parts := range []struct {
		of  *generable.Type
		try func(part *generable.Type) bool
	}{
		{from, func(part *generable.Type) bool { return conflict(part, to) }},
		{to, func(part *generable.Type) bool { return conflict(from, part) }},
	} {
		if parts.of.Kind != generable.UnionType && parts.of.Kind != generable.OneOfType {
			continue
		}
		for _, v := range parts.of.Variants {
			if v = v.Deref(); v == parts.of || !parts.try(v) {
				return false
			}
		}
		return true
	}
	switch to.Kind {
	case generable.AnyType, generable.ErrorType, generable.RefType, generable.LimitType:
		return false
	}
	switch from.Kind {
	case generable.AnyType, generable.ErrorType, generable.RefType, generable.LimitType:
		return false
	case generable.IntType, generable.FloatType:
		return to.Kind != generable.IntType && to.Kind != generable.FloatType
	case generable.StrType, generable.EnumType:
		return to.Kind != generable.StrType && to.Kind != generable.EnumType
	case generable.ListType:
		return to.Kind != generable.ListType || conflict(from.Elem, to.Elem)
	case generable.DictType:
		return to.Kind != generable.DictType && to.Kind != generable.RecordType
	}
	return true
}
