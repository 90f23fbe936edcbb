package analysis

import (
	"cmp"
	"slices"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
)

// unhandled lists the keys that the dict of a branch or match at the place does not handle yet.
func (v *View) unhandled() (out []Candidate) {
	path := v.Query.path
	var dict *syntax.DictExpr
	var call *syntax.CallExpr
	for i := len(path) - 1; i > 0 && call == nil; i-- {
		switch n := path[i].(type) {
		case *syntax.DictExpr:
			if dict == nil {
				dict = n
			}
		case *syntax.CallExpr:
			call = n
		}
	}
	if dict == nil || call == nil || !slices.ContainsFunc(call.Args, func(a syntax.Expr) bool { return startree.Unparen(startree.ArgOf(a).Value) == syntax.Expr(dict) }) {
		return nil
	}
	done := map[string]bool{}
	for _, e := range dict.List {
		if entry, ok := e.(*syntax.DictEntry); ok {
			switch key := startree.Unparen(entry.Key).(type) {
			case *syntax.Ident:
				done[key.Name] = true
			case *syntax.Literal:
				if s, ok := key.Value.(string); ok {
					done[quoted(s)] = true
				}
			}
		}
	}
	for _, t := range v.subject(call) {
		for _, key := range keysOf(t) {
			if !done[key.text] {
				out = append(out, Candidate{key.text, key.text, "value", key.doc})
			}
		}
	}
	return out
}

// subject returns the types of the value that a branch or match tests.
func (v *View) subject(call *syntax.CallExpr) []*generable.Type {
	var on syntax.Expr
	switch fn := call.Fn.(type) {
	case *syntax.DotExpr:
		if fn.Name.Name == "branch" {
			on = fn.X
		}
	case *syntax.Ident:
		if (fn.Name == "branch" || fn.Name == "match") && len(call.Args) > 0 {
			on = startree.ArgOf(call.Args[0]).Value
		}
	}
	if on == nil {
		return nil
	}
	if out := v.returned(on, 0); out != nil {
		return []*generable.Type{out}
	}
	var types []*generable.Type
	for _, t := range v.of(on, 0) {
		if t.typ != nil && t.kind() != "node" {
			types = append(types, t.typ)
		}
	}
	return types
}

// keysOf returns the keys by which a branch distinguishes the values of a type.
func keysOf(t *generable.Type) (out []choice) {
	switch d := t.Deref(); d.Kind {
	case generable.UnionType, generable.OneOfType:
		for _, one := range d.Variants {
			out = append(out, keysOf(one)...)
		}
	case generable.EnumType:
		for _, s := range enumValues(d) {
			out = append(out, choice{quoted(s.text), s.doc})
		}
	case generable.BoolType:
		out = []choice{{"True", "the output holds"}, {"False", "the output does not hold"}}
	case generable.NoneType:
		out = []choice{{"None", "there is no output"}}
	case generable.LimitType:
		return keysOf(d.Elem)
	default:
		out = []choice{{d.String(), cmp.Or(firstLine(d.Doc), typeLine(d))}}
	}
	return out
}
