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

// reply is the answer that a model call asks room for, where tokens or money are bounded: at least so many
// tokens, and more as far as they are there.
type reply struct {
	b           *Branch
	e           *engine.Effect
	of          *Dialogue // as of the ask
	in, none    int64     // tokens that are sent, as reckoned, and what they cost
	dear        float64   // what a token of the answer costs at most
	past        *past     // attempts before this one; nil: none
	least, most int32     // tokens of the answer
	easy        int32     // tokens for which the call waits while others may give some back
	given       int32     // tokens that are held for the answer: its limit
}

// past is what attempts at a call have used, which is held as well.
type past struct {
	in, out, usd int64
}

// cost is what so many tokens of the answer cost at most.
func (r *reply) cost(out int64) int64 { return int64(math.Ceil(r.dear * float64(out))) }

// within is how many tokens of the answer so much of a resource is enough for.
func (r *reply) within(n int64, res units.Resource) int64 {
	if res == units.Tokens {
		return max(n, 0)
	}
	if r.dear <= 0 {
		return math.MaxInt64
	}
	out := int64(min(float64(max(n, 0))/r.dear, math.MaxInt64/2))
	for out > 0 && r.cost(out) > n { // a rounding
		out--
	}
	return out
}

// grown returns how much longer than the least the answer may be: alone as long as all that is left allows,
// else as long as the call's part of it does, or a usual answer where that is there. If open calls hold what a
// usual answer needs, it returns whose. The least fits; the caller holds the lock.
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

// mostUnseen bounds how many are left a part of a named budget that may never use it.
const mostUnseen = 4

// claims is how many share what is left: who may make a call beside those that are open. Who else is to use a named
// budget is not known before, so that a few of those that run at once are thought to. The caller holds the lock.
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

// need is what the call needs of a resource with so long an answer, beside what attempts before it used.
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

// want puts what the call needs with so long an answer into an estimate.
func (r *reply) want(e *Estimate, out int32) {
	e[units.Tokens], e[units.USD] = r.need(units.Tokens, out), r.need(units.USD, out)
}

// limit puts what was reserved beside the request.
func (r *reply) limit(e *engine.Effect) {
	r.e = e
	e.MaxOut, e.Short = r.given, r.given < r.most
}

// opens counts the open calls of the accounts around. The caller holds the lock.
func (b *budget) opens(n int32) {
	for at := b; at != nil; at = at.up {
		if at.account.metered() {
			at.account.inner().calls += n
		}
	}
}

// Again implements [flight.Again]: it reserves another attempt, beside what those before it used. It waits for
// nothing, so that a failure is known in time.
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

// hold adds an estimate to what is held of the accounts around, or returns it. The caller holds the lock.
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

// Do implements [engine.Handler]: it hands the call on with what reserves further attempts at it.
func (r *reply) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	return r.b.Run.handler.Do(flight.WithAgain(ctx, r), e, sink)
}

// guessedAnswer is how many tokens most answers without max_tokens need no more than: a call waits for so many
// while others give back what they do not use, and begins with what is there once none does.
const guessedAnswer = 2048

// Room that a conversation keeps beside what was said, for a last answer: for the results of the
// tools before it, and for itself where max_tokens does not say.
const (
	lastResults = 512
	lastAnswer  = 512
)

// forecast reckons what a model call may use of tokens and money, where these are bounded.
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
	if closes { // rather the last answer than one that is cut off
		k.Next[units.Tokens] = units.Add(in, lastResults+last)
		if r.least = max(r.least, min(lastAnswer, r.most)); own {
			r.least = r.most
		}
	}
	r.want(&a.Want, r.least)
	if !b.Budget.priced {
		return nil
	}
	// What a call costs rises with its answer, for the dearest of several models ever faster: so this is no less
	// than what any answer up to the longest costs.
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

// unknownAnswer is the most tokens that an answer is given room for where nobody knows how many it may have.
const unknownAnswer = 32_768

// answerSize is the least that the limit of an answer must be, and the most that it may be of use.
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

// price is what a call costs. What has no price is not bought with a bounded sum.
func (b *Branch) price(req *model.Request, in, out int64) (int64, *engine.Error) {
	p := b.Run.Spec.Pricer
	if p == nil {
		return 0, engine.Errorf(engine.KindBudget, diag.UnknownPrice, "the budget bounds money, and this host knows no prices").
			WithHelp("give the host's models a table of prices (engine.Pricer), or bound tokens = instead of usd =")
	}
	u := model.Usage{In: clampInt(in), Out: clampInt(out)}
	usd, unpriced := p.PriceCall(req, u)
	if unpriced != "" && req.Model == "" {
		return 0, engine.Errorf(engine.KindBudget, diag.UnknownPrice, "the budget bounds money, and no model is named whose price it could go by").
			WithHelp("name one, model = \"provider/model\" or --model provider/model, also where answers are scripted; or bound tokens = instead of usd =")
	}
	if unpriced != "" || !(usd >= 0) {
		return 0, engine.Errorf(engine.KindBudget, diag.UnknownPrice, "the budget bounds money, and no price is known for the model %q", cmp.Or(unpriced, req.Model)).
			WithHelp("give its price in a file, --prices FILE, or bound tokens = instead of usd =")
	}
	// What is thought, and what is written to a cache, may be dearer.
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

// cost is what a call has cost: as its handler says, or else by the prices that are known.
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

// headTokens are those of a request beside its messages: about a quarter of the bytes.
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

// schemaOverhead is what the schema of a field takes in bytes beside its name and guide.
const schemaOverhead = 24

// imageTokens is what a picture is reckoned with.
const imageTokens = 1000

// TokensOf estimates the tokens of messages: about a quarter of the bytes, and a few for each.
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
