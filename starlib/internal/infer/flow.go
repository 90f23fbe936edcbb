package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// body is one pass through the body of a function.
type body struct {
	in       *Inference
	fn       *resolve.Function
	node     syntax.Node
	captured map[*syntax.Ident]*possible.Value
	depth    int // depth of nested calls
	loops    []*loop
	called   *syntax.CallExpr   // the method call evaluated last
	changed  *syntax.AssignStmt // the statement x += y evaluated last
	tested   map[string]bool    // calls made by conditions, as the script writes them
	leaves   int                // returns and failures met so far
	returns  []result
	end      *state // the state at the end of the body without a return; nil if that is unreachable
}

// result is the value of one return statement.
type result struct {
	at     *syntax.ReturnStmt // nil for the body of a lambda
	value  *possible.Value
	region int
}

type loop struct{ breaks, continues []arm }

// After mostTurns passes through a loop body, a name that still changes becomes unknown. A loop nested deeper than
// mostLoops gets one pass, with every name that it assigns unknown.
const (
	mostTurns = 3
	mostLoops = 2
)

func (b *body) block(stmts []syntax.Stmt, s *state) *state {
	for _, stmt := range stmts {
		if s == nil {
			return nil
		}
		b.in.spend(1)
		s = b.stmt(stmt, s)
	}
	return s
}

func (b *body) stmt(stmt syntax.Stmt, s *state) *state {
	switch x := stmt.(type) {
	case *syntax.ExprStmt:
		if b.eval(s, x.X) == nil {
			return b.leave()
		}
	case *syntax.AssignStmt:
		if !b.assignment(s, x) {
			return b.leave()
		}
	case *syntax.ReturnStmt:
		v := possible.OfKind(possible.None)
		if x.Result != nil {
			v = b.eval(s, x.Result)
		}
		if v != nil {
			b.returns = append(b.returns, result{x, v, s.region})
		}
		return b.leave()
	case *syntax.IfStmt:
		return b.branch(s, x)
	case *syntax.WhileStmt:
		return b.loop(s, x.Body, &possible.Step{At: x.While, Says: "when the loop ends"}, true, func(s *state) (in, out *state) { return b.cond(s, x.Cond) })
	case *syntax.ForStmt:
		return b.forLoop(s, x)
	case *syntax.BranchStmt:
		if x.Token == syntax.PASS || len(b.loops) == 0 {
			return s
		}
		l := b.loops[len(b.loops)-1]
		here := arm{s, possible.Step{At: x.TokenPos, Says: "when the loop reaches `" + x.Token.String() + "`"}, s.region}
		if x.Token == syntax.BREAK {
			l.breaks = append(l.breaks, here)
		} else {
			l.continues = append(l.continues, here)
		}
		return nil
	case *syntax.DefStmt:
		b.assignName(s, x.Name, b.closure(s, x), false)
	}
	return s
}

// leave records that the function returns here.
func (b *body) leave() *state {
	b.leaves++
	return nil
}

func (b *body) branch(s *state, x *syntax.IfStmt) *state {
	then, otherwise := b.arms(s, x.Cond, x.If)
	then.state = b.block(x.True, then.state)
	otherwise.state = b.block(x.False, otherwise.state)
	return b.meet(s, then, otherwise)
}

// arms returns the paths on which a condition holds and does not hold.
func (b *body) arms(s *state, cond syntax.Expr, at syntax.Position) (then, otherwise arm) {
	yes, no := b.cond(s, cond)
	shown := b.in.shown(cond)
	return b.armOf(yes, possible.Step{At: at, Says: "when `" + shown + "` holds"}), b.armOf(no, possible.Step{At: at, Says: "when `" + shown + "` does not hold"})
}

func (b *body) armOf(s *state, taken possible.Step) arm {
	if s == nil {
		return arm{step: taken}
	}
	return arm{state: s, step: taken, from: s.region}
}

func (b *body) forLoop(s *state, x *syntax.ForStmt) *state {
	v := b.eval(s, x.X)
	if v == nil {
		return b.leave()
	}
	item, some := b.iterate(s, x.X, v)
	what := b.in.shown(x.X)
	last := &possible.Step{At: x.For, Says: "when the loop ends"}
	begin := func(s *state) (in, out *state) {
		in = b.copy(s)
		in.region = s.region
		b.assign(in, x.Vars, item, x.X, false)
		return in, nil
	}
	if item == possible.Nothing { // it is certainly empty
		return s
	}
	leaves := b.leaves
	held := b.hold(s, x.X)
	after := b.loop(s, x.Body, last, false, begin)
	if held {
		b.release(s, x.X)
		b.release(after, x.X)
	}
	turned := b.armOf(after, possible.Step{At: x.For, Says: "when `" + what + "` is not empty"})
	if some {
		return turned.state
	}
	if turned.state != nil && turned.lost { // what is known afterwards comes from an empty iteration
		turned.state = nil
	}
	out := b.meet(s, b.armOf(b.copy(s), possible.Step{At: x.For, Says: "when `" + what + "` is empty"}), turned)
	if b.leaves != leaves {
		out.region = b.region()
		out.trail = &possible.Trail{Step: *last, Before: s.trail}
	}
	return out
}

// iterated says why a container cannot be changed while a loop iterates over it.
const iterated = "the loop iterates over it, and what a loop iterates over cannot change meanwhile"

// hold freezes the container of a name while a loop iterates over it. It reports whether there is one.
func (b *body) hold(s *state, e syntax.Expr) bool {
	i, ok := b.own(s, e)
	if !ok || !slices.ContainsFunc(s.vars[i].Alts, func(a possible.Alt) bool { return a.Frozen == "" }) {
		return false
	}
	s.vars[i] = s.vars[i].Frozen("", iterated)
	return true
}

// release undoes hold.
func (b *body) release(s *state, e syntax.Expr) {
	if s == nil {
		return
	}
	if i, ok := b.own(s, e); ok {
		s.vars[i] = s.vars[i].Frozen(iterated, "")
	}
}

// loop iterates a loop until nothing new is learned. begin derives, from the state at the loop's head, the
// state of an iteration and the state after a loop that tests its condition; either may be nil. A loop without
// a test ends after an iteration.
func (b *body) loop(s *state, block []syntax.Stmt, last *possible.Step, tests bool, begin func(*state) (in, out *state)) *state {
	leaves := b.leaves
	head := b.copy(s)
	outer := len(b.loops)
	if outer >= mostLoops {
		b.havoc(head, block)
	}
	var l *loop
	var out *state
	for turn := 0; ; turn++ {
		l = &loop{}
		b.loops = append(b.loops, l)
		in, ends := begin(head)
		end := b.block(block, in)
		b.loops = b.loops[:outer]
		out = ends
		back := b.together(append(l.continues, b.armOf(end, possible.Step{})))
		if !tests {
			out = back
		}
		if back == nil || outer >= mostLoops { // there is no further iteration
			break
		}
		if back.lost && !head.lost { // nor is there one after an iteration that certainly fails; the code after the loop never runs then
			if tests && out != nil {
				out = b.meet(out, arm{out, possible.Step{}, out.region}, arm{back, possible.Step{}, back.region})
			}
			break
		}
		next := b.meet(head, arm{head, possible.Step{}, head.region}, arm{back, possible.Step{At: last.At, Says: "in the next turn of the loop"}, back.region})
		next.region = head.region
		if turn > 0 && next.equal(head) {
			break
		}
		if turn >= mostTurns {
			for i, v := range next.vars {
				if !possible.EqualValues(v, head.vars[i], 0) {
					next.vars[i] = possible.Widened(v)
				}
			}
		}
		if turn > 2*mostTurns {
			break
		}
		head = next
	}
	if out != nil {
		out = &state{vars: out.vars, region: s.region, trail: s.trail, lost: out.lost}
	}
	all := append(l.breaks, b.armOf(out, possible.Step{}))
	out = b.together(all)
	if out == nil {
		return nil
	}
	if b.leaves != leaves {
		out.region = b.region()
		out.trail = &possible.Trail{Step: *last, Before: s.trail}
	} else {
		out.region, out.trail = s.region, s.trail
	}
	return out
}

// together returns the state where several paths meet.
func (b *body) together(ways []arm) *state {
	var out *state
	for _, w := range ways {
		switch {
		case w.state == nil, out != nil && w.lost && !out.lost:
		case out == nil || out.lost && !w.lost:
			out = w.state
		default:
			out = b.meet(out, arm{out, possible.Step{}, out.region}, w)
		}
	}
	return out
}

// havoc forgets the value of every name that a block assigns.
func (b *body) havoc(s *state, block []syntax.Stmt) {
	name := func(e syntax.Expr) {
		if id, ok := e.(*syntax.Ident); ok {
			if i, ok := b.slot(id); ok {
				s.vars[i] = possible.Widened(s.vars[i])
			}
		}
	}
	for _, stmt := range block {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			b.in.spend(1)
			switch n := n.(type) {
			case *syntax.AssignStmt:
				startree.Targets(n.LHS, func(e syntax.Expr) {
					if x, ok := e.(*syntax.IndexExpr); ok {
						e = startree.Unparen(x.X)
					}
					name(e)
				})
			case *syntax.ForStmt:
				startree.Targets(n.Vars, name)
			case *syntax.CallExpr: // a method may mutate its receiver
				if dot, ok := n.Fn.(*syntax.DotExpr); ok {
					b.escape(s, dot.X)
				}
			case *syntax.DefStmt:
				name(n.Name)
				return false
			case *syntax.LambdaExpr:
				return false
			}
			return true
		})
	}
}

// slot returns the index of a local name in the state.
func (b *body) slot(id *syntax.Ident) (int, bool) {
	bound, ok := id.Binding.(*resolve.Binding)
	if !ok || b.fn == nil || bound.Scope != resolve.Local && bound.Scope != resolve.Cell || bound.Index >= len(b.fn.Locals) {
		return 0, false
	}
	return bound.Index, b.fn.Locals[bound.Index].First == bound.First
}

// assignment reports whether the code after it is reachable.
func (b *body) assignment(s *state, x *syntax.AssignStmt) bool {
	if x.Op != syntax.EQ {
		return b.augmented(s, x)
	}
	if _, name := x.LHS.(*syntax.Ident); name {
		b.in.naming, _ = x.RHS.(*syntax.LambdaExpr)
	}
	v := b.eval(s, x.RHS)
	if v == nil {
		return false
	}
	b.assign(s, x.LHS, v, x.RHS, startree.Fresh(x.RHS))
	return true
}

// assign assigns a value, or its parts, to the targets on the left.
func (b *body) assign(s *state, to syntax.Expr, v *possible.Value, from syntax.Expr, fresh bool) {
	switch x := startree.Unparen(to).(type) {
	case *syntax.Ident:
		b.assignName(s, x, v, fresh)
	case *syntax.ListExpr, *syntax.TupleExpr:
		parts := startree.Elements(x)
		for i, item := range b.unpack(s, from, v, len(parts)) {
			b.assign(s, parts[i], item, from, false)
		}
	case *syntax.IndexExpr:
		on := b.eval(s, x.X)
		key := b.eval(s, x.Y)
		if on != nil && key != nil && possible.All(on, func(a *possible.Alt) bool { return a.Kind == possible.Dict }) {
			b.hashed(s, x.Y, key)
		}
		b.setIndex(s, x, on, key, v)
	case *syntax.DotExpr:
		b.setField(s, x, b.eval(s, x.X))
	}
}

func (b *body) assignName(s *state, id *syntax.Ident, v *possible.Value, fresh bool) {
	i, ok := b.slot(id)
	if !ok {
		return
	}
	first, _ := source.Local(id)
	if !fresh || b.in.names.Shared[first] {
		v = possible.Forget(v)
	}
	if b.in.shared[first] {
		b.in.escapes(v)
	}
	s.vars[i] = v.In(s.region)
}
