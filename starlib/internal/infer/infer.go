package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

var anyType = generable.AnyT

// Inference analyses the functions of a file, one at a time.
type Inference struct {
	Silent bool // report nothing: only the values are needed

	c          *script.State
	u          *script.Unit
	table      *table.Table
	runs       bool // the function certainly runs after the file has loaded, and not before
	names      *source.Locals
	own        *source.Locals // locals of the analysed function
	vals       map[syntax.Expr]*possible.Value
	found      map[place]*finding
	order      []place
	nested     []*possible.Closure // nested functions still to be analysed
	nestedI    map[syntax.Node]int
	handed     map[*syntax.LambdaExpr][]*possible.Value
	known      map[syntax.Node]*possible.Value // results of functions that do not depend on their arguments
	calling    map[syntax.Node]bool
	parts      map[*table.Builtin]*possible.Value
	calls      map[syntax.Node]*calls
	open       map[*syntax.Ident]syntax.Node       // names of functions that were read but not called
	shared     map[*syntax.Ident]bool              // names that nested functions capture
	naming     *syntax.LambdaExpr                  // what is being assigned to a name
	signatures map[syntax.Node]*source.Signature   // signatures of functions that were called
	defaults   map[*syntax.Literal]*possible.Value // defaults of parameters that calls leave out
	regions    int
	quiet      int                            // within a call: nothing is reported
	work       int                            // remaining work
	follow     int                            // remaining work for following calls, in the whole file
	texts      map[syntax.Node]*source.Locals // locals of functions whose calls are followed
	gaveUp     bool                           // the analysis of a function was abandoned, so its calls are unknown
	checks     int
}

// place is a node and a code, reported at most once.
type place struct {
	at   syntax.Node
	code diag.Code
}

// used is a node in a role other than its own operation: what is done with a value may fail independently of how it is
// made.
type used struct {
	syntax.Node
	as string
}

// spent is the panic value that ends an analysis when it takes too long.
type spent struct{}

// workPerExpression scales the allowed work with the size of a function. followed and followedPerByte bound the share
// of it that follows calls, for a whole file: many calls may lead to one long function.
const (
	workPerExpression = 200
	followed          = 100_000
	followedPerByte   = 1
)

func (in *Inference) spend(n int) {
	in.work -= n
	if in.work < 0 {
		panic(spent{})
	}
	if in.checks += n; in.checks > 1<<12 {
		in.checks = 0
		if in.c.Context.Err() != nil {
			in.work = 0
			panic(spent{})
		}
	}
}

// New returns an Inference for the functions of a file.
func New(c *script.State, u *script.Unit, t *table.Table) *Inference {
	return &Inference{c: c, u: u, table: t, vals: map[syntax.Expr]*possible.Value{}, follow: followed + followedPerByte*len(u.Text)}
}

// Function analyses an outermost def or lambda and reports its mistakes. runs means that the function certainly runs
// after the file has loaded and not before. called means that all its callers, except the flow, were analysed before
// it.
func (in *Inference) Function(fn syntax.Node, runs, called bool) {
	if in.runs != runs {
		clear(in.known)
	}
	in.runs = runs
	clear(in.vals)
	clear(in.found)
	clear(in.nestedI)
	clear(in.handed)
	clear(in.calling)
	in.order, in.nested = in.order[:0], in.nested[:0]
	if in.own == nil {
		in.own = in.newNames()
	}
	in.names = in.own.Of(fn)
	in.work = 10_000 + workPerExpression*in.names.Size
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(spent); !ok {
				panic(p)
			}
			clear(in.vals)
			clear(in.found)
			in.gaveUp = true
		}
		in.settleCalls()
		in.report()
	}()
	in.look(&possible.Closure{Node: fn}, called)
	in.settleCalls()
	for i := 0; i < len(in.nested); i++ {
		in.look(in.nested[i], true)
	}
}

// TypeOf returns the declared type that an expression certainly has, or nil.
func (in *Inference) TypeOf(e syntax.Expr) *generable.Type {
	return in.vals[startree.Unparen(e)].Type()
}

// Vague reports whether the attributes of an expression are unknown.
func (in *Inference) Vague(e syntax.Expr) bool {
	v := in.vals[startree.Unparen(e)]
	return v == nil || v.Any || slices.ContainsFunc(v.Alts, func(a possible.Alt) bool { return a.Kind == possible.Thing })
}

// Given returns the declared result type of calling a node or a type, or nil for anything else.
func Given(f starlark.Value) *generable.Type {
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

// Exactly returns the value that an expression certainly has, or nil if it is unknown.
func (in *Inference) Exactly(e syntax.Expr) starlark.Value {
	return in.vals[startree.Unparen(e)].Exactly()
}

// Typed returns a stand-in for an expression of which only the type is certain, or nil if the type is unknown too.
func (in *Inference) Typed(e syntax.Expr) starlark.Value {
	a, ok := in.vals[startree.Unparen(e)].Certain()
	switch sample := a.Sample(); {
	case !ok || sample == nil || a.Kind == possible.Record || a.Kind == possible.Bytes || a.Kind == possible.Set || a.Kind == possible.Ranged || a.Kind == possible.Function:
		return nil
	default:
		return &value.Typed{Of: sample, Word: a.Word()}
	}
}

func (in *Inference) newNames() *source.Locals {
	return source.NewLocals(func(id *syntax.Ident) bool {
		_, isFunction := in.u.Globals[id.Name].(*starlark.Function)
		return !isFunction
	})
}

// namesOf returns the names of a function whose calls are followed.
func (in *Inference) namesOf(fn syntax.Node) *source.Locals {
	return memo(&in.texts, fn, func() *source.Locals { return in.newNames().Of(fn) })
}

// put sets an entry of a map that is created on demand, since most files do not need it.
func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

// memo returns an entry of a map, created on first use.
func memo[K comparable, V any](m *map[K]*V, k K, first func() *V) *V {
	v := (*m)[k]
	if v == nil {
		v = first()
		put(m, k, v)
	}
	return v
}

// note records the possible values of an expression.
func (in *Inference) note(e syntax.Expr, v *possible.Value) {
	if v == nil || v.Opaque() {
		delete(in.vals, e)
		return
	}
	in.vals[e] = v
}

// nest schedules a nested function for analysis.
func (in *Inference) nest(c *possible.Closure) {
	if in.quiet > 0 {
		return
	}
	if i, ok := in.nestedI[c.Node]; ok {
		in.nested[i] = c
		return
	}
	put(&in.nestedI, c.Node, len(in.nested))
	in.nested = append(in.nested, c)
}

// parts returns the parameters and the resolved form of a function.
func parts(fn syntax.Node) (params []syntax.Expr, f *resolve.Function) {
	switch fn := fn.(type) {
	case *syntax.DefStmt:
		f, _ = fn.Function.(*resolve.Function)
		return fn.Params, f
	case *syntax.LambdaExpr:
		f, _ = fn.Function.(*resolve.Function)
		return fn.Params, f
	}
	return nil, nil
}

// look analyses a function that is called from outside, with what is known about its parameters.
func (in *Inference) look(c *possible.Closure, called bool) {
	params, f := parts(c.Node)
	if f == nil {
		return
	}
	b, s := in.enter(c, f)
	contract := in.u.Called[c.Node]
	var from *calls
	if called = called && !in.gaveUp; called {
		from = in.calls[c.Node]
	}
	_, outer := c.Node.(*syntax.DefStmt)
	outer = outer && !c.Nested
	var values []*possible.Value
	if lambda, ok := c.Node.(*syntax.LambdaExpr); ok {
		values = in.handed[lambda]
	}
	for i, p := range params {
		id := startree.ParamName(p)
		if id == nil {
			continue
		}
		v := possible.Unknown
		switch {
		case startree.ArgOf(p).Spread != 0 && (contract != nil || from == nil):
		case i < len(values):
			v = b.orNone(s, id, possible.Unmarked(possible.Forget(values[i])).In(s.region))
		case contract != nil:
			if i < len(contract.Params) && contract.Params[i] != nil {
				v = possible.OfType(contract.Params[i], "the flow passed it to the function")
			}
			if i < len(contract.Values) {
				v = possible.OfValue(contract.Values[i], "", 0)
			}
			if from != nil {
				v = possible.Unite(v, from.params[id.Name], 0)
			}
		case from != nil && from.params[id.Name] != nil:
			v = from.params[id.Name]
		}
		if i >= len(values) && (outer && !called || from != nil && from.escaped) {
			v = possible.Unknown
		}
		if slot, ok := b.slot(id); ok {
			s.vars[slot] = v
		}
	}
	b.run(s)
	if contract != nil {
		b.gives(contract)
	}
}

// enter starts a pass through a function.
func (in *Inference) enter(c *possible.Closure, f *resolve.Function) (*body, *state) {
	begun := &struct {
		body
		state
	}{body: body{in: in, fn: f, node: c.Node, captured: c.Env}}
	b, s := &begun.body, &begun.state
	s.vars, s.region = make([]*possible.Value, len(f.Locals)), b.region()
	in.spend(1 + len(f.Locals))
	for i := range s.vars {
		s.vars[i] = possible.OfKind(possible.Unset)
	}
	return b, s
}

// run walks the code of the function.
func (b *body) run(s *state) {
	switch fn := b.node.(type) {
	case *syntax.DefStmt:
		b.end = b.block(fn.Body, s)
	case *syntax.LambdaExpr:
		if v := b.eval(s, fn.Body); v != nil {
			b.returns = append(b.returns, result{nil, v, s.region})
		}
	}
}

// mostCalls bounds the depth to which calls are followed.
const mostCalls = 4

// result returns the result of calling a function of the script, or nil if it never returns.
func (in *Inference) result(from *body, a *possible.Alt, args *arguments) *possible.Value {
	c := a.Code
	if c == nil {
		node := in.codeOf(a.Exact)
		if node == nil {
			return possible.Unknown
		}
		c = &possible.Closure{Node: node}
	}
	if from.depth >= mostCalls || in.calling[c.Node] || in.follow <= 0 {
		return possible.Unknown
	}
	params, f := parts(c.Node)
	if f == nil {
		return possible.Unknown
	}
	plain := len(c.Env) == 0
	for _, v := range args.values {
		plain = plain && v.Opaque()
	}
	for _, n := range args.named {
		plain = plain && n.value.Opaque()
	}
	if v, ok := in.known[c.Node]; ok && plain {
		return v
	}
	v := in.called(from, c, params, f, args)
	if plain {
		put(&in.known, c.Node, v)
	}
	return v
}

// called analyses a function for one call.
func (in *Inference) called(from *body, c *possible.Closure, params []syntax.Expr, f *resolve.Function, args *arguments) (v *possible.Value) {
	vals, found, names, work := in.vals, in.found, in.names, in.work
	in.vals, in.found, in.quiet = map[syntax.Expr]*possible.Value{}, nil, in.quiet+1
	if !c.Nested {
		in.names = in.namesOf(c.Node)
	}
	in.work = min(work/4, in.follow)
	put(&in.calling, c.Node, true)
	given := in.work
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(spent); !ok {
				panic(p)
			}
			v = possible.Unknown
		}
		delete(in.calling, c.Node)
		in.vals, in.found, in.names, in.quiet = vals, found, names, in.quiet-1
		spent := given - max(in.work, 0)
		in.work = work - spent
		if from.depth == 0 {
			in.follow -= spent
		}
	}()
	b, s := in.enter(c, f)
	b.depth = from.depth + 1
	if !in.bind(params, in.runs && !c.Nested, args, func(id *syntax.Ident, v *possible.Value) {
		if slot, ok := b.slot(id); ok {
			s.vars[slot] = v
		}
	}) {
		return possible.Unknown
	}
	b.run(s)
	for _, r := range b.returns {
		v = possible.Unite(v, possible.Unmarked(r.value), 0)
	}
	if b.end != nil {
		v = possible.Unite(v, possible.OfKind(possible.None), 0)
	}
	return v
}

// AtLoad says why top-level lists and dicts are frozen in a running function.
const AtLoad = "it is made while the file loads, and does not change any more when the flow runs"

// global returns the value of a top-level name.
func (in *Inference) global(name string, v starlark.Value) *possible.Value {
	frozen := ""
	if in.runs {
		frozen = AtLoad
	}
	return possible.OfValue(v, frozen, 0)
}

// Possible returns the possible values of an expression in the function analysed last, or nil if nothing is known.
func (in *Inference) Possible(e syntax.Expr) *possible.Value { return in.vals[startree.Unparen(e)] }
