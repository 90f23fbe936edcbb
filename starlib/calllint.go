package starlib

import (
	"fmt"
	"math/big"
	"slices"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// checkCalls looks at the calls of nodes and schemas in the functions of a file, which would
// otherwise fail for the first time in a run: how many arguments, literal inputs, and the names
// of fields. What is not certain is left to the run.
func (c *composer) checkCalls(u *unit) {
	if u.state != unitDone {
		return
	}
	inside := 0 // functions around the current place: the top level has called already
	var stack []syntax.Node
	syntax.Walk(u.file.Syntax(), func(n syntax.Node) bool {
		if n == nil {
			if isFunction(stack[len(stack)-1]) {
				inside--
			}
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		if isFunction(n) {
			inside++
		}
		if call, ok := n.(*syntax.CallExpr); ok && inside > 0 {
			c.checkCall(u, call)
		}
		return true
	})
}

func isFunction(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.DefStmt, *syntax.LambdaExpr:
		return true
	}
	return false
}

func (c *composer) checkCall(u *unit, call *syntax.CallExpr) {
	id, ok := call.Fn.(*syntax.Ident)
	if !ok {
		return
	}
	if b, ok := id.Binding.(*resolve.Binding); !ok || b.Scope != resolve.Global {
		return
	}
	for _, arg := range call.Args {
		if x, ok := arg.(*syntax.UnaryExpr); ok && (x.Op == syntax.STAR || x.Op == syntax.STARSTAR) {
			return
		}
	}
	switch v := u.globals[id.Name].(type) {
	case *nodeValue:
		if !v.n.Failed() {
			if !c.heard[v.n] {
				c.heard[v.n] = true
				c.session.CheckHeard(v.n)
			}
			c.checkNodeCall(call, id, v.n)
		}
	case *typeValue:
		if t := v.t.Deref(); t.Kind == generable.RecordType {
			c.checkConstruction(call, id, t)
		}
	}
}

// checkNodeCall checks that a node gets one input by position, and a literal that it takes.
func (c *composer) checkNodeCall(call *syntax.CallExpr, id *syntax.Ident, n *engine.Node) {
	at := diag.Span{Pos: position(id.NamePos), Len: utf8.RuneCountInString(id.Name)}
	if len(call.Args) != 1 || keywordOf(call.Args[0]) != nil {
		d := &diag.Diagnostic{Code: diag.WrongArgument, Span: at,
			Message: fmt.Sprintf("%s takes its input as the only argument, got %s", n.Label(), counted(len(call.Args), "argument")),
			Help:    []string{"write " + id.Name + "(x)"}}
		if len(call.Args) == 1 {
			d.Message = n.Label() + " takes its input by position, not by name"
		}
		if in := n.In().Deref(); in.Kind == generable.RecordType {
			d.Help = []string{fmt.Sprintf("write %s(%s)", id.Name, example(in))}
		}
		c.session.Report(d)
		return
	}
	v, ok := literal(call.Args[0])
	if !ok {
		return
	}
	if _, errs := n.In().Convert(v); errs != nil {
		start, end := call.Args[0].Span()
		at := diag.Span{Pos: position(start), Len: 1}
		if start.Line == end.Line {
			at.Len = int(end.Col - start.Col)
		}
		d := &diag.Diagnostic{Code: diag.WrongTypeAtBoundary, Span: at, Message: fmt.Sprintf("%s takes %s: %s", n.Label(), n.In(), errs),
			Help: []string{"give it a value of its input type"}}
		if in := n.In().Deref(); in.Kind == generable.RecordType {
			d.Help = []string{fmt.Sprintf("write %s(%s)", id.Name, example(in))}
		}
		if len(errs) == 1 && errs[0].Path == "" {
			d.Message = fmt.Sprintf("%s takes %s, got %s", n.Label(), n.In(), errs[0].Got)
		}
		if p := n.Pos(); p.IsValid() {
			d.Notes = []diag.Note{{Message: n.Label() + " is defined", Pos: p}}
		}
		c.session.Report(d)
	}
}

// checkConstruction checks the names of the fields that a call gives to a schema.
func (c *composer) checkConstruction(call *syntax.CallExpr, id *syntax.Ident, t *generable.Type) {
	given := generable.NewMap(len(call.Args))
	var unknown []*syntax.Ident
	for _, arg := range call.Args {
		name := keywordOf(arg)
		if name == nil {
			return // converts a dict, say
		}
		given.Set(name.Name, generable.Value{})
		if t.FieldIndex(name.Name) < 0 {
			unknown = append(unknown, name)
		}
	}
	meant := map[string]bool{}
	missing := slices.DeleteFunc(notGiven(t, given), func(name string) bool {
		f := &t.Fields[t.FieldIndex(name)]
		return f.Optional || f.Type.AcceptsNone()
	})
	for _, name := range unknown {
		d := &diag.Diagnostic{Code: diag.UnknownField, Message: t.String() + " has no field " + name.Name,
			Span: diag.Span{Pos: position(name.NamePos), Len: utf8.RuneCountInString(name.Name)}}
		if near, ok := diag.Suggest(name.Name, notGiven(t, given)); ok {
			d.Means(near)
			meant[near] = true
		} else if len(unknown) == 1 && len(missing) == 1 { // it must be the one that lacks
			d.Means(missing[0])
			meant[missing[0]] = true
		} else {
			d.Help = []string{"its fields are " + joined(t.FieldNames())}
		}
		c.session.Report(d)
	}
	if missing = slices.DeleteFunc(missing, func(name string) bool { return meant[name] }); len(missing) > 0 {
		c.session.Report(missingFields(t, missing, source.Call{Fn: diag.Span{Pos: position(id.NamePos), Len: utf8.RuneCountInString(id.Name)}}))
	}
}

// keywordOf is the name of a keyword argument, nil of one by position.
func keywordOf(arg syntax.Expr) *syntax.Ident {
	if x, ok := arg.(*syntax.BinaryExpr); ok && x.Op == syntax.EQ {
		id, _ := x.X.(*syntax.Ident)
		return id
	}
	return nil
}

// literal is the value of an expression that is written out.
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
			out, err := toValue(starlark.MakeBigInt(v))
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
