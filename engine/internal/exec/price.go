package exec

import (
	"cmp"
	"context"
	"math"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/flight"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
)

// reply is the answer for which a model call reserves tokens or money, if these are limited: at least the minimum, and
// more if available.
type reply struct {
	b           *Branch
	e           *engine.Effect
	of          *Dialogue // of the ask
	in, none    int64     // tokens of the input, as estimated, and their cost
	dear        float64   // the maximum cost of one token of the answer
	past        *past     // attempts before this one; nil: none
	least, most int32     // tokens of the answer
	easy        int32     // tokens for which the call waits while others may return some
	given       int32     // tokens held for the answer: its limit
}

// past is what earlier attempts at a call used, which is held as well.
type past struct {
	in, out, usd int64
}

// cost returns the maximum cost of an answer of out tokens.
func (r *reply) cost(out int64) int64 { return int64(math.Ceil(r.dear * float64(out))) }

// within returns how many tokens of the answer n units of a resource suffice for.
func (r *reply) within(n int64, res units.Resource) int64 {
	if res == units.Tokens {
		return max(n, 0)
	}
	if r.dear <= 0 {
		return math.MaxInt64
	}
	out := int64(min(float64(max(n, 0))/r.dear, math.MaxInt64/2))
	for out > 0 && r.cost(out) > n { // rounding
		out--
	}
	return out
}

// grown returns by how much the answer may exceed its minimum. The limit is the call's share of what is left or, if
// available, the size of a usual answer, and never more than all that is left. If open calls hold what a usual answer
// needs, it returns the budget and resource. The minimum fits; the caller holds the lock.
func (b *budget) grown(a *Ask) (n int64, holder *budget, of units.Resource) {
	r := a.reply
	wide := int64(r.most - r.least)
	all, part := wide, wide
	for at := b; at != nil; at = at.up {
		p := at.account
		for _, res := range [...]units.Resource{units.Tokens, units.USD} {
			if !p.bounds(res) {
				continue
			}
			left := p.caps[res] - units.Add(p.used[res], p.held[res]) - p.keeps(int(res))
			if k := a.kept(); k != nil {
				left += k.kept[res] - k.Next[res]
			}
			part = min(part, r.within(left/p.claims(r.b)-a.Want[res], res))
			if n := r.within(left-a.Want[res], res); n < all {
				all, holder, of = n, at, res
			}
		}
	}
	easy := min(max(int64(r.easy-r.least), 0), wide)
	if n = min(all, max(part, easy)); n >= easy || holder == nil || holder.account.held[of] == 0 {
		holder = nil
	}
	return n, holder, of
}

// mostUnseen bounds for how many concurrent branches a share of a named budget is left, though they may never use it.
const mostUnseen = 4

// claims returns how many share what is left: those that may make a call in addition to the open ones. Who else will
// use a named budget is not known in advance; a few of the concurrent branches are assumed to. The caller holds the
// lock.
func (p *account) claims(b *Branch) int64 {
	in := p.in
	if in == nil {
		return 1
	}
	n := max(in.users, 1) + in.beside - in.calls
	if in.users > 0 {
		n = max(n, min(1+int32(b.beside)-in.gone-in.calls, mostUnseen))
	}
	return int64(max(n, 1))
}

// need returns how much of a resource the call needs for an answer of out tokens, including what earlier attempts used.
func (r *reply) need(res units.Resource, out int32) (n int64) {
	switch {
	case res == units.Tokens && r.past != nil:
		n = units.Add(r.past.in, r.past.out)
	case res == units.USD && r.past != nil:
		n = r.past.usd
	}
	if res == units.Tokens {
		return units.Add(n, units.Add(r.in, int64(out)))
	}
	return units.Add(n, units.Add(r.none, r.cost(int64(out))))
}

// want writes the call's need for an answer of out tokens into an estimate.
func (r *reply) want(e *Estimate, out int32) {
	e[units.Tokens], e[units.USD] = r.need(units.Tokens, out), r.need(units.USD, out)
}

// limit writes the reserved size of the answer into the effect, next to the request.
func (r *reply) limit(e *engine.Effect) {
	r.e = e
	e.MaxOut, e.Short = r.given, r.given < r.most
}

// opens counts the open calls of the surrounding accounts. The caller holds the lock.
func (b *budget) opens(n int32) {
	for at := b; at != nil; at = at.up {
		if at.account.metered() {
			at.account.inner().calls += n
		}
	}
}

// Again implements [flight.Again]: it reserves another attempt in addition to what the earlier ones used. It does not
// wait, so that a failure is known in time.
func (r *reply) Again(used model.Usage) (maxOut int32, ok bool) {
	next, b := *r, r.b.Budget
	u := r.b.used(Estimate{}, r.e, used)
	next.past = &past{int64(max(used.In, 0)), int64(max(used.Out, 0)), u[units.USD]}
	a := Ask{reply: &next, Of: r.of}
	var held Estimate
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	r.want(&held, r.given)
	b.hold(&held, false)
	next.want(&a.Want, next.least)
	v, _, _ := b.look(r.b, &a)
	if ok = v == granted || v == later; ok {
		n, _, _ := b.grown(&a)
		next.given = next.least + int32(max(n, 0))
		*r = next
		r.want(&held, r.given)
	}
	b.hold(&held, true)
	return r.given, ok
}

// hold adds an estimate to what is held of the surrounding accounts, or returns it. The caller holds the lock.
func (b *budget) hold(e *Estimate, more bool) {
	for at := b; at != nil; at = at.up {
		for r, n := range e {
			if more {
				at.account.held[r] = units.Add(at.account.held[r], n)
			} else {
				at.account.held[r] -= n
			}
		}
	}
}

// Do implements [engine.Handler]: it passes the call on together with the means to reserve further attempts.
func (r *reply) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	return r.b.Run.handler.Do(flight.WithAgain(ctx, r), e, sink)
}

// guessedAnswer is how many tokens suffice for most answers without max_tokens. A call waits for this many while others
// return what they do not use, and begins with what is available once none does.
const guessedAnswer = 2048

// Tokens that a conversation keeps for a last answer in addition to what was said: for the results of the tools before
// it, and for the answer itself if max_tokens is not set.
const (
	lastResults = 512
	lastAnswer  = 512
)

// forecast estimates the tokens and money that a model call may use, if these are limited.
func (b *Branch) forecast(req *model.Request, a *Ask) *engine.Error {
	var in int64
	if a.Of != nil && a.Of.Seen > 0 {
		in = units.Add(a.Of.Seen, TokensOf(req.Since()))
	} else {
		in = units.Add(headTokens(req), TokensOf(req.Messages))
	}
	r := &reply{b: b, of: a.Of, in: in, easy: guessedAnswer}
	a.reply = r
	r.least, r.most = b.answerSize(req)
	last, own := int64(lastAnswer), false
	if m := req.Params.MaxTokens; m != nil {
		last = int64(max(*m, 1))
		r.easy = int32(min(last, math.MaxInt32))
		own = r.easy <= r.most
		r.least, r.most = min(r.least, r.easy), min(r.most, r.easy)
	}
	k := a.kept()
	closes := k != nil && k.Next[units.ModelCalls] > 0
	if closes { // prefer the last answer to one that is cut off
		k.Next[units.Tokens] = units.Add(in, lastResults+last)
		if r.least = max(r.least, min(lastAnswer, r.most)); own {
			r.least = r.most
		}
	}
	r.want(&a.Want, r.least)
	if !b.Budget.priced {
		return nil
	}
	// The cost of a call rises with its answer, and for the most expensive of several models it rises ever faster. A
	// straight line to the longest answer is therefore an upper bound for every answer.
	none, err := b.price(req, in, 0)
	if err != nil {
		return err
	}
	all, err := b.price(req, in, int64(r.most))
	if err != nil {
		return err
	}
	r.dear = float64(max(all-none, 0)) / float64(r.most)
	r.none = none
	r.want(&a.Want, r.least)
	if closes {
		k.Next[units.USD], err = b.price(req, units.Add(in, lastResults), last)
	}
	return err
}

// unknownAnswer is the longest answer that tokens are reserved for if its maximum is unknown.
const unknownAnswer = 32_768

// answerSize returns the smallest permitted limit of an answer, and the largest useful one.
func (b *Branch) answerSize(req *model.Request) (least, most int32) {
	l, m := 0, 0
	if p, ok := b.Run.Spec.Pricer.(interface {
		AnswerSize(req *model.Request) (least, most int)
	}); ok {
		l, m = p.AnswerSize(req)
	}
	if m <= 0 {
		m = unknownAnswer
	}
	m = min(m, math.MaxInt32)
	return int32(min(max(l, 1), m)), int32(m)
}

// price returns the price of a call. A call without a known price is refused within a limited sum.
func (b *Branch) price(req *model.Request, in, out int64) (int64, *engine.Error) {
	p := b.Run.Spec.Pricer
	if p == nil {
		return 0, engine.Errorf(engine.KindBudget, diag.UnknownPrice, "the budget bounds money, and this host knows no prices").
			WithHelp("set a table of prices for the host's models (engine.Pricer), or bound tokens = instead of usd =")
	}
	u := model.Usage{In: clampInt(in), Out: clampInt(out)}
	usd, unpriced := p.PriceCall(req, u)
	if unpriced != "" && req.Model == "" {
		return 0, engine.Errorf(engine.KindBudget, diag.UnknownPrice, "the budget bounds money, and no model is named whose price it could go by").
			WithHelp("name one, model = \"provider/model\" or --model provider/model, also where answers are scripted; or bound tokens = instead of usd =")
	}
	if unpriced != "" || !(usd >= 0) {
		return 0, engine.Errorf(engine.KindBudget, diag.UnknownPrice, "the budget bounds money, and no price is known for the model %q", cmp.Or(unpriced, req.Model)).
			WithHelp("set its price in a file, --prices FILE, or bound tokens = instead of usd =")
	}
	// Reasoning and cache writes may be more expensive.
	dear := u
	dear.Reasoning = u.Out
	if req.Params.Cache || len(req.Params.Extra) > 0 {
		dear.CacheWrite = u.In
	}
	if dear != u {
		if more, _ := p.PriceCall(req, dear); more > usd {
			usd = more
		}
	}
	return units.Nanos(usd), nil
}

func clampInt(n int64) int { return int(min(n, model.MaxUsage)) }

// cost returns what a call has cost: as its handler says, or else by the known prices.
func (b *Branch) cost(e *engine.Effect, u model.Usage) int64 {
	if !b.Budget.priced || e == nil {
		return 0
	}
	usd := u.CostUSD
	if req, ok := e.Req.(*model.Request); ok && (usd == 0 || u.Unpriced > 0) && b.Run.Spec.Pricer != nil && (u.In > 0 || u.Out > 0) {
		if known, unpriced := b.Run.Spec.Pricer.PriceCall(req, u); unpriced == "" {
			usd = max(usd, known)
		}
	}
	return units.Nanos(usd)
}

// headTokens estimates the tokens of a request without its messages: about a quarter of the bytes.
func headTokens(req *model.Request) int64 {
	n := len(req.System)
	for i := range req.Tools {
		t := &req.Tools[i]
		n += len(t.Name) + len(t.Description)
		if t.Params != nil {
			for j := range t.Params.Fields {
				n += len(t.Params.Fields[j].Name) + len(t.Params.Fields[j].Guide) + schemaOverhead
			}
		}
	}
	return int64(n+3) / 4
}

// schemaOverhead is the size of a field's schema in bytes in addition to its name and guide.
const schemaOverhead = 24

// imageTokens is the estimate for a picture.
const imageTokens = 1000

// TokensOf estimates the tokens of messages: about a quarter of the bytes, and a few for each message.
func TokensOf(messages []model.Message) int64 {
	n, images := 0, 0
	for i := range messages {
		n += 16
		for j := range messages[i].Parts {
			p := &messages[i].Parts[j]
			n += len(p.Text)
			switch {
			case p.Call != nil:
				n += len(p.Call.Name) + len(p.Call.Args) + 16
			case p.Result != nil:
				n += len(p.Result.Text) + 16
			case p.Image != nil:
				images++
			}
		}
	}
	return int64((n+3)/4 + images*imageTokens)
}
