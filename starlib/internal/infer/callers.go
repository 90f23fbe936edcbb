package infer

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/starlib/internal/possible"
)

// calls records the arguments with which the analysed functions of a file call one of its functions.
type calls struct {
	params  map[string]*possible.Value
	escaped bool // it may also be called in unknown ways
}

// mention records a read of a name that holds a function of the file.
func (in *Inference) mention(id *syntax.Ident, v *possible.Value) {
	if in.quiet > 0 {
		return
	}
	if a, ok := v.Certain(); ok && a.Kind == possible.Function {
		if node := in.codeOf(a.Exact); node != nil {
			if in.open == nil {
				in.open = map[*syntax.Ident]syntax.Node{}
			}
			in.open[id] = node
		}
	}
}

// codeOf returns the syntax of a top-level function of the file, nil for any other value.
func (in *Inference) codeOf(v starlark.Value) syntax.Node {
	fn, ok := v.(*starlark.Function)
	if !ok || fn.Position().Filename() != in.u.Shown || fn.NumFreeVars() > 0 {
		return nil
	}
	return in.u.Function(fn.Position())
}

// callsOf returns the recorded calls of a function.
func (in *Inference) callsOf(node syntax.Node) *calls {
	c := in.calls[node]
	if c == nil {
		c = &calls{params: map[string]*possible.Value{}}
		if in.calls == nil {
			in.calls = map[syntax.Node]*calls{}
		}
		in.calls[node] = c
	}
	return c
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
	params, _ := parts(node)
	if args.spread || !in.bind(params, args, func(id *syntax.Ident, v *possible.Value) { c.params[id.Name] = possible.Unite(c.params[id.Name], v, 0) }) {
		c.escaped = true
	}
}

// settleCalls runs after a function was analysed: a function that it uses in any way other than a direct call
// may be called with anything.
func (in *Inference) settleCalls() {
	for _, node := range in.open {
		in.callsOf(node).escaped = true
	}
	clear(in.open)
}
