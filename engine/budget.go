package engine

import (
	"math"
	"strconv"
	"sync"
)

// resource indexes the counters of a budget. Records of races hold them in this order, so that
// new ones come last.
type resource int

const (
	resModelCalls resource = iota
	resToolCalls
	resTokens
	resSteps
	resTurns
	resUSD // in billionths of a dollar
	resources
)

var resourceNames = [resources]string{"model call", "tool call", "token", "script step", "turn", "dollar"}
var resourceArgs = [resources]string{"model_calls", "tool_calls", "tokens", "steps", "turns", "usd"}

// estimate is what something is expected to use of each resource.
type estimate [resources]int64

// pot counts what is used of one budget: what was used, what open reservations hold, and what
// conversations keep for a last answer.
type pot struct {
	who        string   // an agent's name, or the whole label
	limits     *Limits  // nil: it bounds nothing
	caps       estimate // math.MaxInt64 is none
	used, held estimate
	kept       *keeping         // nil: nothing
	warned     [resources]uint8 // how many of the limits' WarnAt were told
	agent      bool
	asking     bool // the host is asked about its end
}

// ledger is what all budgets of a run share: one lock, so that a reservation is taken on every
// level or on none, and those that have a name.
type ledger struct {
	mu      sync.Mutex
	named   map[string]*pot
	starved *starved // asks that wait, the last one that began first
}

// budget is one level of the budgets around a branch. A pot may stand at several places.
type budget struct {
	up      *budget
	at      *Frame // where it stands
	run     *ledger
	pot     *pot
	own     pot
	apart   bool // it bounds nothing, and tells what a branch uses
	metered bool // tokens or money are bounded here or further out
	priced  bool // money is
	shares  bool // tool calls are, of all that goes on inside
}

// newBudget opens the budget of a run or, below another one, of a node or an agent call. whole
// budgets count turns and tool calls of everything inside.
func newBudget(up *budget, at *Frame, who string, l *Limits, whole bool) *budget {
	b := &budget{up: up, at: at, own: pot{who: who}}
	b.pot = &b.own
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
	b.metered, b.priced = b.metered || l.Tokens.set() || l.USD.set(), b.priced || l.USD.set()
	b.shares = b.shares || l.ToolCalls.set() && (whole || l.Name != "")
	if l.Name == "" {
		return b
	}
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	if known := b.run.named[l.Name]; known != nil {
		for r, c := range b.own.caps { // budgets of one name that differ: the least holds
			known.caps[r] = min(known.caps[r], c)
		}
		b.pot = known
		return b
	}
	b.own.who = "the budget " + strconv.Quote(l.Name)
	if b.run.named == nil {
		b.run.named = map[string]*pot{}
	}
	b.run.named[l.Name] = b.pot
	return b
}

// bound sets a pot's caps.
func (p *pot) bound(l *Limits, whole bool) {
	for r := range p.caps {
		p.caps[r] = math.MaxInt64
	}
	if p.limits = l; l == nil {
		return
	}
	set := func(r resource, c Cap) { p.caps[r] = c.or(math.MaxInt64) }
	set(resModelCalls, l.ModelCalls)
	set(resTokens, l.Tokens)
	set(resSteps, l.Steps)
	set(resUSD, l.USD)
	if whole || l.Name != "" {
		set(resTurns, l.Turns)
		set(resToolCalls, l.ToolCalls)
	}
}

// label is how messages call it. It is made when somebody reads it.
func (p *pot) label() string {
	if p.agent {
		return "the budget of agent " + strconv.Quote(p.who)
	}
	return p.who
}

// keeps is what conversations keep of a resource.
func (p *pot) keeps(r int) int64 {
	if p.kept == nil {
		return 0
	}
	return p.kept.of[r]
}

func (p *pot) bounds(r resource) bool { return p.caps[r] != math.MaxInt64 }

// within reports whether a named budget is around already: then it counts there.
func (b *budget) within(name string) bool {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	known := b.run.named[name]
	for at := b; at != nil && known != nil; at = at.up {
		if at.pot == known {
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

// look tells whether what a branch asks for fits on every level, else which level and resource are
// in its way. What it waits for is what others hold or keep, never what it is inside of keeps. The
// caller holds the lock.
func (b *budget) look(of *branch, a *ask) (verdict, *budget, resource) {
	v, by, res := granted, (*budget)(nil), resource(0)
	for at := b; at != nil; at = at.up {
		p := at.pot
		for r, n := range a.want {
			c := p.caps[r]
			if n == 0 || c == math.MaxInt64 {
				continue
			}
			need, others := plus(p.used[r], n), p.keeps(r)
			if k := a.kept(); k != nil {
				need, others = plus(need, k.next[r]), others-k.kept[r]
			}
			if plus(plus(need, others), p.held[r]) <= c {
				continue
			}
			for k := of.keeper; k != nil; k = k.outer {
				if k != a.kept() && k.keepsIn(p) {
					need, others = plus(need, k.kept[r]), others-k.kept[r]
				}
			}
			now := refused
			switch {
			case need > c:
			case p.held[r] > 0, others > 0 && p.kept.open > p.kept.stuck:
				now = later
			case others > 0:
				now = starving
			}
			if now > v {
				v, by, res = now, at, resource(r)
			}
		}
	}
	return v, by, res
}

// take holds what is asked for on every level when it fits on all, and more of it as far as that
// is there.
func (b *budget) take(of *branch, a *ask) (verdict, *budget, resource) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	v, by, r := b.look(of, a)
	if v != granted {
		return v, by, r
	}
	more := a.more
	for at := b; at != nil; at = at.up {
		p := at.pot
		for r := range more {
			if c := p.caps[r]; more[r] > 0 && c != math.MaxInt64 {
				kept := p.keeps(r)
				if k := a.kept(); k != nil {
					kept = plus(kept-k.kept[r], k.next[r])
				}
				more[r] = max(min(more[r], c-plus(plus(p.used[r], p.held[r]), plus(kept, a.want[r]))), 0)
			}
		}
	}
	for r := range more {
		a.want[r] = plus(a.want[r], more[r])
	}
	for at := b; at != nil; at = at.up {
		for r, n := range a.want {
			at.pot.held[r] = plus(at.pot.held[r], n)
		}
	}
	a.kept().move()
	return granted, nil, 0
}

// spend books what was used already, or gives the level and resource that refuse it.
func (b *budget) spend(of *branch, used estimate) (*budget, resource) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	if v, p, r := b.look(of, &ask{want: used}); v != granted {
		return p, r
	}
	b.book(estimate{}, used, nil)
	return nil, 0
}

// settle turns a reservation into what was really used, and gives what is to be told of that.
func (b *budget) settle(held, used estimate, listens bool) []BudgetNews {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	if !listens {
		b.book(held, used, nil)
		return nil
	}
	var news []BudgetNews
	b.book(held, used, &news)
	return news
}

// book does so under the lock.
func (b *budget) book(held, used estimate, news *[]BudgetNews) {
	for at := b; at != nil; at = at.up {
		p := at.pot
		for r := range held {
			if held[r] == 0 && used[r] == 0 {
				continue
			}
			p.held[r] -= held[r]
			p.used[r] = plus(p.used[r], used[r])
			if news != nil && used[r] > 0 && p.bounds(resource(r)) {
				at.tell(resource(r), news)
			}
		}
	}
}

// plus adds counts, none of which is negative. A sum that is too large stays at the largest, so
// that what is spent stays spent.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
