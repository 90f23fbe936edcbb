package exec

import (
	"cmp"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
)

// What an answer without max_tokens is reckoned with, in tokens. It is held where it is there;
// where less is left, a call begins with less.
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
	out, more, last := int64(1), int64(guessedAnswer-1), int64(lastAnswer)
	if m := req.Params.MaxTokens; m != nil {
		out, more = int64(max(*m, 1)), 0
		last = out
	}
	a.Want[units.Tokens], a.more[units.Tokens] = units.Add(in, out), more
	k := a.kept()
	if k != nil && k.Next[units.ModelCalls] > 0 {
		k.Next[units.Tokens] = units.Add(in, lastResults+last)
	}
	if !b.Budget.priced {
		return nil
	}
	var most, lasts int64
	var err *engine.Error
	if a.Want[units.USD], err = b.price(req, in, out); err != nil {
		return err
	}
	if most, err = b.price(req, in, units.Add(out, more)); err != nil {
		return err
	}
	a.more[units.USD] = max(most-a.Want[units.USD], 0)
	if k != nil && k.Next[units.ModelCalls] > 0 {
		lasts, err = b.price(req, units.Add(in, lastResults), last)
		k.Next[units.USD] = lasts
	}
	return err
}

// price is what a call costs. What has no price is not bought with a bounded sum.
func (b *Branch) price(req *model.Request, in, out int64) (int64, *engine.Error) {
	p := b.Run.Spec.Pricer
	if p == nil {
		return 0, engine.Errorf(engine.KindBudget, diag.UnknownPrice, "the budget bounds money, and this host knows no prices").
			WithHelp("give the host's models a table of prices (engine.Pricer), or bound tokens = instead of usd =")
	}
	usd, unpriced := p.PriceCall(req, model.Usage{In: clampInt(in), Out: clampInt(out)})
	if unpriced != "" && req.Model == "" {
		return 0, engine.Errorf(engine.KindBudget, diag.UnknownPrice, "the budget bounds money, and no model is named whose price it could go by").
			WithHelp("name one, model = \"provider/model\" or --model provider/model, also where answers are scripted; or bound tokens = instead of usd =")
	}
	if unpriced != "" || !(usd >= 0) {
		return 0, engine.Errorf(engine.KindBudget, diag.UnknownPrice, "the budget bounds money, and no price is known for the model %q", cmp.Or(unpriced, req.Model)).
			WithHelp("give its price in a file, --prices FILE, or bound tokens = instead of usd =")
	}
	return units.Nanos(usd), nil
}

func clampInt(n int64) int { return int(min(n, model.MaxUsage)) }

// cost is what a call has cost: as its handler says, or else by the prices that are known.
func (b *Branch) cost(e *engine.Effect, u model.Usage) int64 {
	if !b.Budget.priced || e == nil || e.Kind != engine.EffectModel {
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
