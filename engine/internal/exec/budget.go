package exec

import (
	"math"
	"strconv"
	"sync"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/units"
)

// Estimate is the expected use of each resource.
type Estimate [units.Resources]int64

// account counts the use of one budget: what was used, what open reservations hold, and what conversations keep for a
// last answer.
type account struct {
	who        string         // an agent's name, or the whole label
	limits     *engine.Limits // nil: no limits
	caps       Estimate       // math.MaxInt64 is no limit
	used, held Estimate
	in         *inside                // nil: nothing is in progress
	warned     [units.Resources]uint8 // how many of the limits' WarnAt were reported
	agent      bool
	asking     bool // the host is being asked for an extension
}

// ledger is the state that all budgets of a run share: one lock, so that a reservation is taken on every level or on
// none, and the named accounts.
type ledger struct {
	mu      sync.Mutex
	named   map[string]*account
	waiting *waiter // waiting asks, the most recent one first
}

// budget is one level of the budgets around a branch. Several levels may share an account.
type budget struct {
	up      *budget
	at      *engine.Frame // where it is declared
	run     *ledger
	account *account
	own     account
	apart   bool // it has no limits and counts the use of one branch
	metered bool // tokens or money are limited here or further out
	priced  bool // money is
	shares  bool // tool calls are, for everything inside
}

// NewBudget opens the budget of a run or, below another one, of a node or an agent call. whole budgets count the turns
// and tool calls of everything inside.
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
		for r, c := range b.own.caps { // if budgets with the same name differ, the lowest limit applies
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

// EndBudget ends a budget that [NewBudget] opened: outer is the branch's budget again.
func (b *Branch) EndBudget(own, outer *budget) {
	b.Budget = outer
	if p := own.account; p.limits != nil && p.limits.Name != "" {
		own.run.mu.Lock()
		p.in.users--
		p.in.gone++
		own.run.mu.Unlock()
	}
}

// bound sets an account's limits.
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

// label returns the budget's name in messages. It is built when somebody reads it.
func (p *account) label() string {
	if p.agent {
		return "the budget of agent " + strconv.Quote(p.who)
	}
	return p.who
}

// keeps returns how much of a resource conversations keep.
func (p *account) keeps(r int) int64 {
	if p.in == nil {
		return 0
	}
	return p.in.kept[r]
}

// metered reports whether an account bounds tokens or money.
func (p *account) metered() bool { return p.bounds(units.Tokens) || p.bounds(units.USD) }

func (p *account) bounds(r units.Resource) bool { return p.caps[r] != math.MaxInt64 }

// Within reports whether a surrounding budget has this name: use then counts there.
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

// verdict is the result of checking a budget.
type verdict uint8

const (
	granted  verdict = iota
	later            // open reservations may return something
	starving         // only conversations keep it, and something waits in each of them
	refused
)

// look reports whether an ask fits on every level, else which level and resource prevent it. An ask may wait for what
// others hold or keep, never for what its own surrounding conversations keep. The caller holds the lock.
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

// take reserves an ask on every level if it fits on all of them; a model answer gets more than its minimum as far as
// possible.
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

// spend books what was already used, or returns the level and resource that refuse it.
func (b *budget) spend(of *Branch, used Estimate) (*budget, units.Resource) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	if v, p, r := b.look(of, &Ask{Want: used}); v != granted {
		return p, r
	}
	b.book(nil, spent{of: used}, nil)
	return nil, 0
}

// settle replaces a reservation, starting at the budget from, by the real use, and reports it. held is nil for use
// without a reservation: a recorded one, or that of the losers of a race.
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

// book does this under the lock.
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
			if p.in != nil && p.held[r] == 0 && p.used[r] <= p.caps[r] { // the overuse was made up for
				p.in.strayed[r] = 0
			}
		}
	}
}
