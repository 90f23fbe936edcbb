package lint

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// arity is the number of positional arguments that a function accepts.
type arity struct{ needs, most int }

func lambdaInfo(fn *syntax.LambdaExpr) (a arity) {
	for _, p := range fn.Params {
		switch p := startree.ArgOf(p); {
		case p.Spread == syntax.STAR && p.Value == nil:
			return a // the remaining parameters are keyword-only
		case p.Spread == syntax.STAR:
			a.most = 255
			return a
		case p.Name != nil:
			a.most++
		case p.Spread == 0:
			a.needs, a.most = a.needs+1, a.most+1
		}
	}
	return a
}

// arity checks that a function can be called with n positional arguments.
func (l *callLint) arity(what string, at syntax.Expr, name string, a arity, n int) {
	if n >= a.needs && n <= a.most {
		return
	}
	d := l.report(diag.CallbackArity, at, "%s calls %s with %s", what, name, text.CountInWords(n, "argument"))
	d.Label = "it takes " + text.CountInWords(a.most, "argument")
	if n < a.needs {
		d.Label = "it needs " + text.CountInWords(a.needs, "argument")
	}
	d.Help = []string{fmt.Sprintf("let it take %s; others need a default", text.CountInWords(n, "parameter"))}
	if n == 0 {
		d.Help = []string{"let it take none, or pass the arguments: (f, x)"}
	}
}

// loadedCall checks a call of a function of another file, which may have a different name here.
func (l *callLint) loadedCall(call *syntax.CallExpr, as string, fn *starlark.Function) {
	g := l.lint.signatures[fn]
	if g == nil || g.Name != as {
		g = signature(as, fn)
		if l.lint.signatures == nil {
			l.lint.signatures = map[*starlark.Function]*source.Signature{}
		}
		l.lint.signatures[fn] = g
	}
	l.u.File.CheckArguments(call, g, &l.c.Session.Reporter)
}

func signature(as string, fn *starlark.Function) *source.Signature {
	n := value.NumNamed(fn)
	g := &source.Signature{Name: as, Positional: n - fn.NumKwonlyParams(), Varargs: fn.HasVarargs(), Kwargs: fn.HasKwargs(),
		Note: diag.Note{Message: "the function is defined", Pos: script.Position(fn.Position())}}
	var names []string
	for i := range n {
		name, _ := fn.Param(i)
		need := source.Optional
		if fn.ParamDefault(i) == nil {
			need = source.Required
		}
		g.Add(name, need)
		names = append(names, name)
	}
	g.Help = []string{"its parameters are " + script.Some(names)}
	return g
}
