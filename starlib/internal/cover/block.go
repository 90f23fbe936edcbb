package cover

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// block inserts probes before the statements of a block. Probes count next when control leaves the block at its end,
// and out when a break in the block leaves the loop. bare says that the compiler has emitted no instruction when the
// block begins. The block's leading pass, break and continue must then be counted by what jumps to the block: block
// returns their places.
func (w *inserter) block(at *[]syntax.Stmt, next, out *chain, bare bool) *chain {
	list := *at
	lead, behind := w.leads(list, next, out)
	var made []syntax.Stmt
	count := func(places *chain, at syntax.Position) {
		made = append(made, &syntax.ExprStmt{X: w.probe(places, at)})
	}
	live := true // control can get here
	for i, s := range list {
		place, is := w.file.at[s]
		branch, jumps := s.(*syntax.BranchStmt)
		switch {
		case jumps && is && !bare && live && branch.Token == syntax.PASS:
			count(w.one(place), w.position(behind[i]))
		case jumps && is && !bare && live:
			count(lead[i], w.position(s))
		case !jumps && !literal(s):
			around := w.bound
			if w.loops == 0 {
				w.bound = nil
			}
			first := w.position(s)
			w.stmt(s, lead[i+1], out)
			var probe []syntax.Stmt
			if is && live {
				probe = append(probe, &syntax.ExprStmt{X: w.probe(w.one(place), first)})
			}
			if w.loops == 0 {
				made = append(made, placed(w.bound, first)...)
				w.bound = around
			}
			made = append(made, probe...)
			bare = holdsTests(s)
		}
		made = append(made, s)
		live = live && !leaves(s)
	}
	if live && !bare && next != nil {
		count(next, syntax.Position{})
	}
	w.setBlock(at, made)
	return lead[0]
}

// leads returns, for each statement of a block and for its end, the places to count when control gets there before the
// compiler has emitted an instruction: a pass and what follows it, a break and what follows its loop, a continue. It
// also returns, for each statement, the statement for which the compiler emits the next instruction.
func (w *inserter) leads(list []syntax.Stmt, next, out *chain) (lead []*chain, behind []syntax.Stmt) {
	lead, behind = make([]*chain, len(list)+1), slices.Clone(list)
	lead[len(list)] = next
	for i, s := range slices.Backward(list) {
		branch, jumps := s.(*syntax.BranchStmt)
		if (jumps && branch.Token == syntax.PASS || literal(s)) && i+1 < len(list) {
			behind[i] = behind[i+1]
		}
		switch {
		case literal(s):
			lead[i] = lead[i+1]
		case !jumps:
		case branch.Token == syntax.PASS:
			lead[i] = &chain{&w.file.counts[w.file.at[s]], lead[i+1]}
		case branch.Token == syntax.BREAK:
			lead[i] = &chain{&w.file.counts[w.file.at[s]], out}
		default:
			lead[i] = w.one(w.file.at[s])
		}
	}
	return lead, behind
}

// placed sets the position of calls that bind probes to that of the instruction that follows them.
func placed(binds []syntax.Stmt, at syntax.Position) []syntax.Stmt {
	for _, s := range binds {
		s.(*syntax.AssignStmt).RHS.(*syntax.CallExpr).Fn.(*syntax.Ident).NamePos = at
	}
	return binds
}

// holdsTests reports whether control leaves a statement by jumps to a place without instructions.
func holdsTests(s syntax.Stmt) bool {
	switch s.(type) {
	case *syntax.IfStmt, *syntax.WhileStmt:
		return true
	}
	return false
}

// leaves reports whether control does not reach the next statement.
func leaves(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.ReturnStmt:
		return true
	case *syntax.BranchStmt:
		return s.Token != syntax.PASS
	}
	return false
}

// stmt inserts probes into the parts of a statement. next are the places to count when control leaves it by a jump, out
// those when it leaves the loop around it.
func (w *inserter) stmt(s syntax.Stmt, next, out *chain) {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		w.expr(s.LHS)
		w.expr(s.RHS)
	case *syntax.ExprStmt:
		w.expr(s.X)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			w.expr(s.Result)
		}
	case *syntax.DefStmt:
		w.each(s.Params)
		locals, loops, bound := w.locals, w.loops, w.bound
		w.locals, w.loops, w.start = true, 0, s.Def
		w.block(&s.Body, nil, nil, false)
		w.locals, w.loops, w.bound = locals, loops, bound
	case *syntax.ForStmt:
		w.expr(s.X)
		w.loops++
		w.expr(s.Vars)
		w.block(&s.Body, nil, nil, false)
		w.loops--
	case *syntax.WhileStmt:
		w.loops++
		w.expr(s.Cond)
		body := w.block(&s.Body, nil, next, true)
		w.loops--
		w.tests(&s.Cond, body, next)
	case *syntax.IfStmt:
		w.expr(s.Cond)
		yes, no := w.block(&s.True, next, out, true), next
		if len(s.False) > 0 {
			no = w.block(&s.False, next, out, true)
		}
		w.tests(&s.Cond, yes, no)
	}
}

// tests makes a condition count where it is decided. It follows the compiler, which splits a condition into tests that
// jump separately.
func (w *inserter) tests(cond *syntax.Expr, yes, no *chain) {
	if yes == nil && no == nil {
		return
	}
	switch x := (*cond).(type) {
	case *syntax.UnaryExpr:
		if x.Op == syntax.NOT {
			w.tests(&x.X, no, yes)
			return
		}
	case *syntax.BinaryExpr:
		switch x.Op {
		case syntax.AND:
			w.test(&x.X, nil, no)
			w.tests(&x.Y, yes, no)
			return
		case syntax.OR:
			w.test(&x.X, yes, nil)
			w.tests(&x.Y, yes, no)
			return
		case syntax.NOT_IN:
			in := *x
			in.Op = syntax.IN
			not := &syntax.UnaryExpr{OpPos: x.OpPos, Op: syntax.NOT, X: &in}
			w.test(&not.X, no, yes)
			w.replace(cond, not)
			return
		}
	}
	w.test(cond, yes, no)
}

// test makes one test count by its result.
func (w *inserter) test(cond *syntax.Expr, yes, no *chain) {
	if yes == nil && no == nil {
		return
	}
	decided := func(places *chain, steps uint64, result starlark.Bool) syntax.Expr {
		w.file.tests[len(w.probes)] = true
		return w.call(&probe{places: places, steps: steps, result: result}, syntax.Position{})
	}
	w.replace(cond, &syntax.CondExpr{Cond: &syntax.ParenExpr{X: *cond}, True: decided(yes, trueSteps, true), False: decided(no, falseSteps, false)})
}
