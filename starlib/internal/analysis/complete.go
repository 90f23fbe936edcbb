package analysis

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// Completion is what may appear at a place.
type Completion struct {
	Range // the text that a candidate replaces
	Items []Candidate
}

// Candidate is one thing that may appear at a place.
type Candidate struct {
	Name   string // as shown
	Insert string // the text to write
	Kind   string // argument, variable, function, builtin, type, node, module, field, method, value, file, model, agent or keyword
	Doc    string // one line; may be empty
}

// mostOffered bounds the candidates of one place.
const mostOffered = 500

// Complete returns what may appear at the place of the query.
func (v *View) Complete(p *Place) Completion {
	c := Completion{Range: p.Word}
	if p.none {
		return c
	}
	offer := func(items []Candidate) { c.Items = append(c.Items, items...) }
	path := v.Query.path
	if len(path) == 0 { // the statement there could not be parsed
		if !p.text {
			offer(v.names(p.typed))
		}
		return c.beginning(p.typed)
	}
	around := path[len(path)-2]
	switch at := path[len(path)-1].(type) {
	case *syntax.Literal:
		return v.inString(p, at)
	case *syntax.Ident:
		switch around := around.(type) {
		case *syntax.DotExpr:
			if around.Name == at {
				offer(v.members(around.X))
				return c.beginning(p.typed)
			}
		case *syntax.DefStmt:
			if around.Name == at || slices.Contains(around.Params, syntax.Expr(at)) {
				return c
			}
		case *syntax.LambdaExpr:
			if slices.Contains(around.Params, syntax.Expr(at)) {
				return c
			}
		case *syntax.LoadStmt:
			if slices.Contains(around.From, at) {
				offer(v.loadable(around))
			}
			return c.beginning(p.typed)
		case *syntax.BinaryExpr:
			call, ok := path[len(path)-3].(*syntax.CallExpr)
			if ok && around.Op == syntax.EQ && around.X == syntax.Expr(at) { // the name of an argument
				offer(v.keywords(call, around))
				return c.beginning(p.typed)
			}
		case *syntax.DictEntry:
			if around.Key == syntax.Expr(at) {
				offer(v.unhandled())
			}
		case *syntax.CallExpr:
			if around.Fn != syntax.Expr(at) {
				offer(v.keywords(around, at))
			}
		}
		if call, arg := v.argument(); call != nil {
			for _, e := range v.expected(call, arg) {
				offer([]Candidate{{quoted(e.text), quoted(e.text), "value", e.doc}})
			}
		}
		offer(v.names(p.typed))
	}
	return c.beginning(p.typed)
}

func quoted(s string) string { return syntax.Quote(s, false) }

// beginning keeps the candidates that begin with the typed text in any case, each name once.
func (c Completion) beginning(typed string) Completion {
	seen := map[string]bool{}
	c.Items = slices.DeleteFunc(c.Items, func(i Candidate) bool {
		drop := seen[i.Name] || !startsWith(strings.TrimLeft(i.Name, `"`), typed) || strings.Contains(i.Name, placeholder) || i.Name == wrapper
		seen[i.Name] = true
		return drop
	})
	c.Items = c.Items[:min(len(c.Items), mostOffered)]
	return c
}
