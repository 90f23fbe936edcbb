package exec

import (
	"math"
	"strconv"
	"sync"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/units"
)

// Estimate is what something is expected to use of each resource.
type Estimate [units.Resources]int64

// account counts what is used of one budget: what was used, what open reservations hold, and what
// conversations keep for a last answer.
type account struct {
	who        string         // an agent's name, or the whole label
	limits     *engine.Limits // nil: it bounds nothing
	caps       Estimate       // math.MaxInt64 is none
	used, held Estimate
	in         *inside                // nil: nothing goes on
	warned     [units.Resources]uint8 // how many of the limits' WarnAt were told
	agent      bool
	asking     bool // the host is asked about its end
}

// ledger is what all budgets of a run share: one lock, so that a reservation is taken on every
// level or on none, and those that have a name.
type ledger struct {
	mu      sync.Mutex
	named   map[string]*account
	waiting *waiter // asks that wait, the last one that began first
}

// budget is one level of the budgets around a branch. An account may stand at several places.
type budget struct {
	up      *budget
	at      *engine.Frame // where it is written
	run     *ledger
	account *account
	own     account
	apart   bool // it bounds nothing, and counts what a branch uses
	metered bool // tokens or money are bounded here or further out
	priced  bool // money is
	shares  bool // tool calls are, of all that goes on inside
}

// NewBudget opens the budget of a run or, below another one, of a node or an agent call. whole
// budgets count turns and tool calls of everything inside.
func NewBudget(up *budget, at *engine.Frame, who string, l *engine.Limits, whole bool) *budget {
	b := &budget{up: up, at: at, own: account{who: who}}
	b.account = &b.own
	b.own.bound(l, whole)
	if up != nil {
		b.run, b.metered, b.priced, b.shares = up.run, up.metered, up.priced, up.shares
	} else {
		b.run = &ledger{}
	}
	if l == nil {
		return b
	}
	b.own.agent = !whole && l.Name == ""
	b.metered, b.priced = b.metered || l.Tokens.Set() || l.USD.Set(), b.priced || l.USD.Set()
	b.shares = b.shares || l.ToolCalls.Set() && (whole || l.Name != "")
	if l.Name == "" {
		return b
	}
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	if known := b.run.named[l.Name]; known != nil {
		known.inner().users++
		for r, c := range b.own.caps { // budgets of one name that differ: the least holds
			known.caps[r] = min(known.caps[r], c)
		}
		b.account = known
		return b
	}
	b.own.who, b.own.in = "the budget "+strconv.Quote(l.Name), &inside{users: 1}
	if b.run.named == nil {
		b.run.named = map[string]*account{}
	}
	b.run.named[l.Name] = b.account
	return b
}

// EndBudget ends one that [NewBudget] opened: the branch is within another one again.
func (b *Branch) EndBudget(own, outer *budget) {
	b.Budget = outer
	if p := own.account; p.limits != nil && p.limits.Name != "" {
		own.run.mu.Lock()
		p.in.users--
		p.in.gone++
		own.run.mu.Unlock()
	}
}

// bound sets an account's caps.
func (p *account) bound(l *engine.Limits, whole bool) {
	for r := range p.caps {
		p.caps[r] = math.MaxInt64
	}
	if p.limits = l; l == nil {
		return
	}
	set := func(r units.Resource, c engine.Cap) { p.caps[r] = c.Or(math.MaxInt64) }
	set(units.ModelCalls, l.ModelCalls)
	set(units.Tokens, l.Tokens)
	set(units.Steps, l.Steps)
	set(units.USD, l.USD)
	if whole || l.Name != "" {
		set(units.Turns, l.Turns)
		set(units.ToolCalls, l.ToolCalls)
	}
}

// label is how messages call it. It is made when somebody reads it.
func (p *account) label() string {
	if p.agent {
		return "the budget of agent " + strconv.Quote(p.who)
	}
	return p.who
}

// keeps is what conversations keep of a resource.
func (p *account) keeps(r int) int64 {
	if p.in == nil {
		return 0
	}
	return p.in.kept[r]
}

// metered reports whether an account bounds tokens or money.
func (p *account) metered() bool { return p.bounds(units.Tokens) || p.bounds(units.USD) }

func (p *account) bounds(r units.Resource) bool { return p.caps[r] != math.MaxInt64 }

// Within reports whether a named budget is around already: then it counts there.
func (b *budget) Within(name string) bool {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	known := b.run.named[name]
	for at := b; at != nil && known != nil; at = at.up {
		if at.account == known {
			return true
		}
	}
	return false
}

// verdict of one look at a budget.
type verdict uint8

const (
	granted  verdict = iota
	later            // open reservations may give something back
	starving         // conversations keep it, in each of which something waits
	refused
)

// look says whether what a branch asks for fits on every level, else which level and resource are
// in its way. What it waits for is what others hold or keep, never what it is inside of keeps. The
// caller holds the lock.
func (b *budget) look(of *Branch, a *Ask) (verdict, *budget, units.Resource) {
	v, by, res := granted, (*budget)(nil), units.Resource(0)
	for at := b; at != nil; at = at.up {
		p := at.account
		for r, n := range a.Want {
			c := p.caps[r]
			if n == 0 || c == math.MaxInt64 {
				continue
			}
			need, others := units.Add(p.used[r], n), p.keeps(r)
			if k := a.kept(); k != nil {
				need, others = units.Add(need, k.Next[r]), others-k.kept[r]
			}
			if units.Add(units.Add(need, others), p.held[r]) <= c {
				continue
			}
			for k := of.Reservation; k != nil; k = k.Outer {
				if k != a.kept() && k.keepsIn(p) {
					need, others = units.Add(need, k.kept[r]), others-k.kept[r]
				}
			}
			now := refused
			switch {
			case need > c:
			case p.held[r] > 0, others > 0 && p.in.open > p.in.stuck:
				now = later
			case others > 0:
				now = starving
			}
			if now > v {
				v, by, res = now, at, units.Resource(r)
			}
		}
	}
	if v == granted && a.reply != nil {
		if _, holder, r := b.grown(a); holder != nil {
			return later, holder, r
		}
	}
	return v, by, res
}

// take holds what is asked for on every level when it fits on all, and of an answer more than its least as far
// as that is there.
func (b *budget) take(of *Branch, a *Ask) (verdict, *budget, units.Resource) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	v, by, r := b.look(of, a)
	if v != granted {
		return v, by, r
	}
	if a.reply != nil {
		n, _, _ := b.grown(a)
		a.reply.given = a.reply.least + int32(n)
		a.reply.want(&a.Want, a.reply.given)
		b.opens(1)
	}
	b.hold(&a.Want, true)
	a.kept().move()
	return granted, nil, 0
}

// spend books what was used already, or returns the level and resource that refuse it.
func (b *budget) spend(of *Branch, used Estimate) (*budget, units.Resource) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	if v, p, r := b.look(of, &Ask{Want: used}); v != granted {
		return p, r
	}
	b.book(nil, spent{of: used}, nil)
	return nil, 0
}

// settle turns what was held of the budgets from one on into what was really used, and reports it. held is nil for
// what was used without being asked for: it is recorded, or was a loser's.
func (b *Branch) settle(from *budget, held *Ask, used spent) {
	var news *[]event.BudgetChange
	if b.Wants(engine.EventBudget) {
		news = &[]event.BudgetChange{}
	}
	from.run.mu.Lock()
	from.book(held, used, news)
	from.run.mu.Unlock()
	if news != nil {
		b.EmitBudget(*news, held == nil)
	}
}

// book does so under the lock.
func (b *budget) book(a *Ask, u spent, news *[]event.BudgetChange) {
	var held Estimate
	if a != nil {
		held = a.held()
		if a.reply != nil {
			b.opens(-1)
		}
	}
	why := u.strayed(a)
	for at := b; at != nil; at = at.up {
		p := at.account
		for r := range held {
			if held[r] == 0 && u.of[r] == 0 {
				continue
			}
			p.held[r] -= held[r]
			p.used[r] = units.Add(p.used[r], u.of[r])
			if why[r] != 0 {
				p.inner().strayed[r] |= why[r]
			}
			if news != nil && u.of[r] > 0 && p.bounds(units.Resource(r)) {
				at.addEvents(units.Resource(r), a, &u, news)
			}
			if p.in != nil && p.held[r] == 0 && p.used[r] <= p.caps[r] { // all that strayed was made up for
				p.in.strayed[r] = 0
			}
		}
	}
}
