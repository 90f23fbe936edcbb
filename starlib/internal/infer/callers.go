package infer

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// calls records the arguments with which the analysed functions of a file call one of its functions.
type calls struct {
	params  map[string]*possible.Value
	escaped bool // it may also be called with unknown arguments
}

// mention records a read of a name that holds a function of the file.
func (in *Inference) mention(id *syntax.Ident, v *possible.Value) {
	if in.quiet > 0 {
		return
	}
	if a, ok := v.Certain(); ok && a.Kind == possible.Function {
		if node := in.nodeOf(&a); node != nil {
			put(&in.open, id, node)
		}
		return
	}
	in.escapes(v)
}

// nodeOf returns the syntax of a function of the file, or nil for any other value.
func (in *Inference) nodeOf(a *possible.Alt) syntax.Node {
	if a.Code != nil {
		return a.Code.Node
	}
	return in.codeOf(a.Exact)
}

// escapes records that the functions among the alternatives of a value may be called with unknown arguments.
func (in *Inference) escapes(v *possible.Value) {
	if v == nil || in.quiet > 0 {
		return
	}
	for i := range v.Alts {
		if a := &v.Alts[i]; a.Kind == possible.Function {
			if node := in.nodeOf(a); node != nil {
				in.callsOf(node).escaped = true
			}
		}
	}
}

// codeOf returns the syntax of a top-level function of the file, or nil for any other value.
func (in *Inference) codeOf(v starlark.Value) syntax.Node {
	fn, ok := v.(*starlark.Function)
	if !ok || fn.Position().Filename() != in.u.Shown || fn.NumFreeVars() > 0 {
		return nil
	}
	return in.u.Function(fn.Position())
}

// callsOf returns the recorded calls of a function.
func (in *Inference) callsOf(node syntax.Node) *calls {
	return memo(&in.calls, node, func() *calls { return &calls{params: map[string]*possible.Value{}} })
}

// calledAs records a call by the expression that names the function.
func (in *Inference) calledAs(fn syntax.Expr, args *arguments) {
	id, ok := fn.(*syntax.Ident)
	if !ok || in.quiet > 0 {
		return
	}
	node := in.open[id]
	if node == nil {
		return
	}
	delete(in.open, id)
	c := in.callsOf(node)
	if args.spread {
		c.escaped = true
		return
	}
	params, _ := parts(node)
	_, nested := in.nestedI[node]
	loaded := in.runs && !nested
	if in.bind(params, loaded, args, func(*syntax.Ident, *possible.Value) {}) { // otherwise the call fails
		in.bind(params, loaded, args, func(id *syntax.Ident, v *possible.Value) { c.params[id.Name] = possible.Unite(c.params[id.Name], v, 0) })
	}
}

// arity reports a call of a nested function, or one with *args or **kwargs, that does not fit its parameters. Other
// calls are checked by their syntax.
func (b *body) arity(x *syntax.CallExpr, a *possible.Alt, args *arguments) {
	node := b.in.nodeOf(a)
	params, _ := parts(node)
	spreads := slices.ContainsFunc(x.Args, func(arg syntax.Expr) bool { return startree.ArgOf(arg).Spread != 0 })
	if node == nil || args.spread || b.in.quiet > 0 || a.Code == nil && !spreads {
		return
	}
	g := *b.in.signature(node, params)
	g.Name = b.in.shown(x.Fn)
	call := &syntax.CallExpr{Fn: x.Fn, Lparen: x.Lparen, Rparen: x.Rparen, Args: slices.Clone(args.exprs)}
	for _, n := range args.named {
		at, _ := n.expr.Span()
		for _, arg := range x.Args { // the name itself if one is written
			if own := startree.ArgOf(arg); own.Value == n.expr && own.Name != nil {
				at = own.Name.NamePos
			}
		}
		call.Args = append(call.Args, &syntax.BinaryExpr{X: &syntax.Ident{NamePos: at, Name: n.name}, OpPos: at, Op: syntax.EQ, Y: n.expr})
	}
	for _, code := range []diag.Code{diag.UnknownArgument, diag.MissingArgument, diag.WrongArgument, diag.TooManyArguments} {
		b.failure(x, code, works, nil, nil)
	}
	var found diag.Reporter
	b.in.u.File.CheckArguments(call, &g, &found)
	for _, d := range found.Diagnostics() {
		b.failure(x, d.Code, always, nil, func(f *finding) { f.Diagnostic = *d })
	}
}

// signature returns the parameters of a function. They are cached, since the function may be called often.
func (in *Inference) signature(node syntax.Node, params []syntax.Expr) *source.Signature {
	if g := in.signatures[node]; g != nil {
		return g
	}
	g := &source.Signature{Note: diag.Note{Message: "the function is defined", Pos: in.pos(startOf(node))}}
	after := false
	var names []string
	for _, p := range params {
		arg, id := startree.ArgOf(p), startree.ParamName(p)
		switch {
		case arg.Spread == syntax.STARSTAR:
			g.Kwargs = true
			continue
		case arg.Spread == syntax.STAR:
			after, g.Varargs = true, id != nil
			continue
		case arg.Name == nil:
			g.Add(id.Name, source.Required)
		default:
			g.Add(id.Name, source.Optional)
		}
		if names = append(names, id.Name); !after {
			g.Positional++
		}
	}
	g.Help = []string{"its parameters are " + script.Joined(names)}
	put(&in.signatures, node, g)
	return g
}

// settleCalls runs after a function was analysed: a function that it uses in any way other than a direct call
// may be called with anything.
func (in *Inference) settleCalls() {
	for _, node := range in.open {
		in.callsOf(node).escaped = true
	}
	clear(in.open)
}

// uncalled adds a remedy for a function that is used where the result of its call is meant.
func (b *body) uncalled(f *finding, e syntax.Expr, v *possible.Value) bool {
	a, certain := v.Certain()
	_, lambda := startree.Unparen(e).(*syntax.LambdaExpr)
	_, node := a.Exact.(*value.Node)
	switch {
	case !certain || lambda:
		return false
	case node:
		f.help("call it: `%s(...)`", b.in.shown(e))
	case a.Kind == possible.Function:
		f.help("call it: `%s()`", b.in.shown(e))
	default:
		return false
	}
	return true
}

func (b *body) notCallable(f *finding, x *syntax.CallExpr, fn *possible.Value) {
	f.says("`%s` is %s, which cannot be called", b.in.shown(x.Fn), fn.Words())
	a := fn.Alts[0]
	switch {
	case a.Kind == possible.Dict && len(x.Args) == 1, a.Kind == possible.List && len(x.Args) == 1:
		f.help("an entry is reached in brackets: `%s[%s]`", b.in.shown(x.Fn), b.in.shown(x.Args[0]))
	default:
		f.help("leave out the parentheses")
	}
}
