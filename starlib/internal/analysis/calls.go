package analysis

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// lambdaWith finds the lambda around the place that has a parameter, and the call that it is passed to.
func (v *View) lambdaWith(name string) (fn *syntax.LambdaExpr, call *syntax.CallExpr) {
	for i := len(v.Query.path) - 1; i > 0; i-- {
		lambda, ok := v.Query.path[i].(*syntax.LambdaExpr)
		if !ok || len(lambda.Params) == 0 {
			continue
		}
		if id := startree.ParamName(lambda.Params[0]); id == nil || id.Name != name {
			continue
		}
		for j := i - 1; j > 0; j-- {
			if call, ok := v.Query.path[j].(*syntax.CallExpr); ok {
				return lambda, call
			}
		}
	}
	return nil, nil
}

// handed returns what a call of a node's method passes to a function: the node's output.
func (v *View) handed(call *syntax.CallExpr, steps int) []thing {
	node := syntax.Expr(nil)
	if dot, ok := call.Fn.(*syntax.DotExpr); ok {
		node = dot.X
	} else if len(call.Args) > 0 {
		node = startree.ArgOf(call.Args[0]).Value
	}
	if node == nil {
		return nil
	}
	if out := v.returned(node, steps+1); out != nil {
		return []thing{{typ: out}}
	}
	return nil
}

// returned returns the output type of a node, or nil if the expression is not a node or its type is unknown.
func (v *View) returned(node syntax.Expr, steps int) *generable.Type {
	for _, t := range v.of(node, steps) {
		if n, ok := t.value.(*value.Node); ok && !n.Node.Failed() {
			return n.Node.Out()
		}
	}
	return nil
}

// result returns what a call returns.
func (v *View) result(x *syntax.CallExpr, steps int) (out []thing) {
	for _, fn := range v.called(x, steps) {
		if def := v.definition(fn); def != nil {
			startree.Returns(def.Body, func(r *syntax.ReturnStmt) {
				if r.Result != nil && len(out) == 0 {
					out = v.of(r.Result, steps+1)
				}
			})
			continue
		}
		switch f := fn.value.(type) {
		case *value.Type:
			if f.Func == nil {
				out = append(out, thing{typ: f.T})
			} else {
				out = append(out, thing{word: f.Func.Name()})
			}
			continue
		case *value.Node:
			if !f.Node.Failed() {
				out = append(out, thing{typ: f.Node.Out()})
			}
			continue
		case *value.Maker:
			out = append(out, thing{word: f.Name()})
			continue
		}
		if fn.row != nil {
			for word := range strings.SplitSeq(fn.row.Returns, " | ") {
				out = append(out, v.word(word)...)
			}
		}
	}
	return out
}

// called returns what a call may refer to. The rows of methods say more than a function knows about its values.
func (v *View) called(x *syntax.CallExpr, steps int) []thing {
	if dot, ok := x.Fn.(*syntax.DotExpr); ok {
		if methods := v.attribute(dot, steps); len(methods) > 0 && methods[0].row != nil {
			return methods
		}
	}
	return v.of(x.Fn, steps+1)
}

// definition returns the text of a function of the script, or nil for anything else.
func (v *View) definition(t thing) *syntax.DefStmt {
	fn, ok := t.value.(*starlark.Function)
	if !ok || v.Query.tree == nil {
		return t.def
	}
	for _, stmt := range v.Query.tree.Stmts {
		if def, ok := stmt.(*syntax.DefStmt); ok && def.Name.Name == fn.Name() {
			return def
		}
	}
	return nil
}
