package llm

import (
	"cmp"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/llm/prices"
	"github.com/agentscript/agentscript/engine/model"
)

// WithPrices replaces the table that calls are priced by, which is [prices.Embedded]. With nil no
// call is priced, nor counted as one without a price.
func WithPrices(t *prices.Table) Option {
	return func(r *Registry) {
		if r.prices = nil; t != nil {
			r.prices = func() *prices.Table { return t }
		}
	}
}

// Prices returns the table that calls are priced by, nil when none is. The embedded one is read
// when it is first asked for, which takes longer than all else of a short run.
func (r *Registry) Prices() *prices.Table {
	if r.prices == nil {
		return nil
	}
	return r.prices()
}

// Price returns what is known of a model's price and context window.
func (r *Registry) Price(model string) (prices.Model, bool) {
	table := r.Prices()
	if table == nil {
		return prices.Model{}, false
	}
	return table.Find(r.fullName(model))
}

// priced yields the models of the table of prices that a provider here offers.
func (r *Registry) priced() iter.Seq2[string, string] {
	return func(yield func(provider, id string) bool) {
		table := r.Prices()
		if table == nil {
			return
		}
		for _, provider := range r.names() {
			for _, m := range table.Models(provider) {
				if !yield(provider, m.ID) {
					return
				}
			}
		}
	}
}

// Free reports whether calls of the model cost nothing, as those of a server on the user's own
// machine.
func (r *Registry) Free(model string) bool {
	prefix, _, _ := strings.Cut(model, "/")
	p := r.providers[prefix]
	if p == nil || !p.local {
		return false
	}
	t, err := r.resolve(model)
	return err == nil && t.key == ""
}

// PriceCall implements [engine.Pricer]: the dearest of the models that may answer a request counts,
// and each must have a price.
func (r *Registry) PriceCall(req *model.Request, u model.Usage) (usd float64, unpriced string) {
	for _, name := range r.modelsOf(req.Model, req) {
		if r.Free(name) {
			continue
		}
		m, _ := r.Price(name)
		cost, known := m.Cost(u, time.Now())
		if !known {
			return 0, cmp.Or(name, "(none is named)")
		}
		usd = max(usd, cost)
	}
	return usd * dearer(req), ""
}

// dearer is how many times dearer what a script adds to a request makes its tokens, at most.
func dearer(req *model.Request) float64 {
	if len(req.Params.Extra) == 0 {
		return 1
	}
	_, _, times := wire.ExtraUse(req.Params.Extra)
	return times
}

// ExtraUse reports what the members that a script adds to a request mean for what a call uses at most: how many answers it
// asks for, whether it sets its own limit for them, and how many times dearer it makes tokens.
func ExtraUse(extra json.RawMessage) (answers int, limits bool, dearer float64) {
	return wire.ExtraUse(extra)
}

// AnswerSize returns how many tokens the limit of an answer to a request must at least be, thoughts included, so that
// the models that may answer take it, and how many the answer can have at most; 0 is not known.
func (r *Registry) AnswerSize(req *model.Request) (least, most int) {
	known := true
	for _, name := range r.modelsOf(req.Model, req) {
		prefix, id, _ := strings.Cut(r.fullName(name), "/")
		p := r.providers[prefix]
		if p == nil {
			known = false
			continue
		}
		l, m := wire.AnswerSize(p.dialect, id, req)
		if taken := r.takenBy(prefix, id); taken > 0 {
			m = taken
		}
		least, most, known = max(least, l), max(most, m), known && m > 0
	}
	if !known {
		most = 0
	}
	return least, most
}

// takenBy is the longest limit that a model turned out to take, 0 when none was refused.
func (r *Registry) takenBy(provider, id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken[tierKey{provider: provider, model: id}]
}

// shortened has the call made again with the limit that its provider takes, when that refused a longer one which
// the script did not ask for.
func (c *call) shortened(err *engine.Error) bool {
	switch err.Kind {
	case engine.KindBadRequest, engine.KindUnsupported, engine.KindContextLength:
	default:
		return false
	}
	if own := c.req.Params.MaxTokens; c.maxOut <= 0 || err.Model == nil || err.Model.Status < 400 || own != nil && *own <= c.maxOut {
		return false
	}
	n, always := wire.LongestTaken(err.Message, c.maxOut)
	if n == 0 {
		return false
	}
	if c.maxOut = n; always {
		c.reg.mu.Lock()
		c.reg.taken[tierKey{provider: c.provider, model: c.model}] = n
		c.reg.mu.Unlock()
	}
	c.refused(err)
	return true
}

// cost puts the price of a call into its usage. A provider that says it itself knows best, and
// a server on the user's own machine takes nothing. Without a price the call is counted as one
// that has none: it is not free.
func (c *call) cost(u *model.Usage) {
	if c.reg.prices == nil || u.CostUSD > 0 || *u == (model.Usage{}) || c.row != nil && c.row.local && c.key == "" {
		return
	}
	if m, ok := c.reg.prices().Find(c.provider + "/" + c.model); ok {
		if usd, known := m.Cost(*u, time.Now()); known {
			u.CostUSD = usd * dearer(c.req)
			return
		}
	}
	u.Unpriced = 1
}
