package engine

import "github.com/agentscript/agentscript/diag"

// Acting is a [Func] or a [Judge] that says what the most is that it may do by itself. One that does
// not say reads.
type Acting interface{ Acts() Class }

// rank orders classes by how much they are; "" is the least.
func (c Class) rank() uint8 {
	switch c {
	case ClassRead:
		return 1
	case ClassIdempotent:
		return 2
	case ClassOnce:
		return 3
	}
	return 0
}

// Stronger is the class of what may do either.
func (c Class) Stronger(than Class) Class {
	if than.rank() > c.rank() {
		return than
	}
	return c
}

// Acts is the class that rules know a tool by: what is said of it, and no less than what its function
// and those that mend its calls may do. What an agent inside calls is ruled there, and no part of it.
func (t *Tool) Acts() Class {
	if t.Run == nil {
		if t.Class == "" {
			return ClassOnce
		}
		return t.Class
	}
	class := ClassRead.Stronger(t.Class).Stronger(acts(t.Run))
	if r := t.OnError; r != nil {
		for _, list := range [][]Remedy{r.BadArgs, r.Failure} {
			for i := range list {
				class = class.Stronger(acts(list[i].Judge)).Stronger(list[i].Fixer.acts())
			}
		}
	}
	return class
}

// acts is the most that a callback does.
func acts(f any) Class {
	if a, ok := f.(Acting); ok {
		return a.Acts()
	}
	return ""
}

// Acts implements [Acting].
func (t *nodeTool) Acts() Class { return t.n.acts() }

func (n *Node) acts() (class Class) {
	n.Callbacks(func(f Func) { class = class.Stronger(acts(f)) })
	return class
}

// Callbacks gives the functions that a node calls, with those of the nodes inside: of agents those that
// are run instead of a model alone.
func (n *Node) Callbacks(give func(Func)) {
	if n == nil {
		return
	}
	each := func(fs ...Func) {
		for _, f := range fs {
			if f != nil {
				give(f)
			}
		}
	}
	each(n.fn)
	if a := n.agent; a != nil {
		each(a.Run)
		for _, sk := range a.Skills {
			each(sk.Run)
		}
	}
	if l := n.loop; l != nil {
		each(l.next, l.until.fn)
	}
	for i := range n.routes {
		each(n.routes[i].When)
	}
	if g := n.graph; g != nil {
		for i := range g.edges {
			each(g.edges[i].Guard.When)
			g.edges[i].Map.Callbacks(give)
		}
	}
	if r := n.retry; r != nil {
		each(r.UntilFunc, r.Feedback)
	}
	if v := n.vote; v != nil {
		each(v.Key)
	}
	for _, kid := range n.kids {
		kid.Callbacks(give)
	}
}

// ruledAs is the rank that all which the function of a tool touches is held to, 0 when no rule for its
// calls speaks of an effect. It is a second line: what a tool may touch was found before any call.
func (b *branch) ruledAs(sk *skillPlan, t *Tool) uint8 {
	if !b.ruled(sk) || !b.byClass(sk) {
		return 0
	}
	return t.Acts().rank()
}

// byClass reports whether a rule for calls of a skill speaks of an effect.
func (b *branch) byClass(sk *skillPlan) bool {
	classed := func(p *Policy) bool {
		if p == nil {
			return false
		}
		for _, rules := range [][]*rule{p.deny, p.ask, p.allow} {
			for _, r := range rules {
				if r.class != "" {
					return true
				}
			}
		}
		return false
	}
	for _, p := range b.run.spec.Policies {
		if classed(p) {
			return true
		}
	}
	return classed(sk.agent.Policy) || classed(sk.Policy)
}

// outdoes is what an operation comes to that is more than the call of the tool around it was ruled as.
func (b *branch) outdoes(e *Effect, op *Operation) error {
	if b.acting == 0 || e.Class.rank() <= b.acting {
		return nil
	}
	if j := b.run.spec.Journal; j != nil {
		if _, known := j.Answer(e.ID()); known {
			return nil
		}
	}
	what := string(op.Kind) + "." + op.Name
	if op.Kind == EffectExec {
		what = "sh.run"
	}
	was := [...]Class{"", ClassRead, ClassIdempotent, ClassOnce}[b.acting]
	err := Errorf(KindPolicy, diag.Denied, "%s is of effect %s, and the call of the tool around it was ruled as one of effect %s: it is not made", what, e.Class, was).
		WithHelp("call %s by its name in the function of the tool, so that its effect is known", what)
	b.tellPolicy(PhaseEnd, what, "denied", err)
	return err
}
