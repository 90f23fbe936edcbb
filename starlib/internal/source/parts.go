package source

import (
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// Parts are the places of the parts of an argument that is written out as a list, a tuple or a dict.
type Parts struct {
	Keys  []diag.Span // of a dict
	Items []diag.Span // of a list or tuple; the values of a dict
}

// PartsAt gives the parts of an argument of the call whose opening parenthesis is at lparen: of the
// one of a name, or where that is "" of the n-th by position, from 1. There are none when the argument
// is written in any other way.
func (f *File) PartsAt(lparen syntax.Position, n int, name string) (p Parts) {
	e := startree.Unparen(f.argument(lparen, n, name))
	for _, item := range startree.Elements(e) {
		p.Items = append(p.Items, f.span(item))
	}
	if d, ok := e.(*syntax.DictExpr); ok {
		for _, item := range d.List {
			if entry, ok := item.(*syntax.DictEntry); ok {
				p.Keys, p.Items = append(p.Keys, f.span(entry.Key)), append(p.Items, f.span(entry.Value))
			}
		}
	}
	return p
}

// argument finds an argument of a call, nil when it is not written there.
func (f *File) argument(lparen syntax.Position, n int, name string) syntax.Expr {
	site, ok := f.calls[at(lparen)]
	if !ok {
		return nil
	}
	for _, arg := range site.call.Args {
		switch a := startree.ArgOf(arg); {
		case a.Name != nil && a.Name.Name == name:
			return a.Value
		case a.Name != nil:
		case a.Spread != 0 && name == "":
			return nil
		default:
			if n--; n == 0 && name == "" {
				return arg
			}
		}
	}
	return nil
}
