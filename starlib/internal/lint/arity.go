package lint

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// arity is how many arguments a function takes by position.
type arity struct{ needs, most int }

func lambdaInfo(fn *syntax.LambdaExpr) (a arity) {
	for _, p := range fn.Params {
		switch p := p.(type) {
		case *syntax.Ident:
			a.needs, a.most = a.needs+1, a.most+1
		case *syntax.BinaryExpr:
			a.most++
		case *syntax.UnaryExpr:
			if p.Op == syntax.STAR && p.X == nil {
				return a // what follows is given by keyword
			}
			if p.Op == syntax.STAR {
				a.most = 255
				return a
			}
		}
	}
	return a
}

// arity checks that a function can be called with n arguments by position.
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
		d.Help = []string{"let it take none, or give the arguments: (f, x)"}
	}
}

// loadedCall checks a call of a function of another file, which has a name of its own here.
func (l *callLint) loadedCall(call *syntax.CallExpr, as string, fn *starlark.Function) {
	names, missing := map[string]bool{}, []string(nil)
	var keywords []string
	positional := fn.NumParams() - fn.NumKwonlyParams()
	if fn.HasVarargs() {
		positional--
	}
	if fn.HasKwargs() {
		positional--
	}
	noted := func(d *diag.Diagnostic, help string) {
		d.Help = append(d.Help, help)
		d.Notes = []diag.Note{{Message: "the function is defined", Pos: script.Position(fn.Position())}}
	}
	given := 0
	for i := range positional + fn.NumKwonlyParams() {
		name, _ := fn.Param(i)
		names[name] = false
		keywords = append(keywords, name)
	}
	for _, arg := range call.Args {
		name := keywordOf(arg)
		if name == nil {
			if given == positional && !fn.HasVarargs() {
				noted(l.report(diag.TooManyArguments, arg, "%s takes %s by position", as, text.CountInWords(positional, "argument")), "its parameters are "+script.Joined(keywords))
			}
			if given < positional {
				n, _ := fn.Param(given)
				names[n] = true
			}
			given++
			continue
		}
		if _, known := names[name.Name]; known {
			names[name.Name] = true
		} else if !fn.HasKwargs() {
			d := &diag.Diagnostic{Code: diag.UnknownArgument, Span: l.u.File.SpanOf(name), Message: fmt.Sprintf("%s has no parameter %s", as, name.Name)}
			if near, ok := diag.Suggest(name.Name, keywords); ok {
				names[near] = true
				d.Means(near)
			}
			noted(d, "its parameters are "+script.Joined(keywords))
			l.c.Session.Report(d)
		}
	}
	for i, name := range keywords {
		if !names[name] && fn.ParamDefault(i) == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		noted(l.report(diag.MissingArgument, call.Fn, "%s needs %s", as, script.Joined(missing)), "write "+as+"("+script.Joined(missing)+" = …)")
	}
}
