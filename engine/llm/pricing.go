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

// WithPrices replaces the table that calls are priced by, which is [prices.Embedded]. With nil, calls are neither
// priced nor counted as calls without a price.
func WithPrices(t *prices.Table) Option {
	return func(r *Registry) {
		if r.prices = nil; t != nil {
			r.prices = func() *prices.Table { return t }
		}
	}
}

// Prices returns the table that calls are priced by, nil without one. The embedded table is read at first use, which
// takes longer than everything else in a short run.
func (r *Registry) Prices() *prices.Table {
	if r.prices == nil {
		return nil
	}
	return r.prices()
}

// Price returns a model's price and context window, if known.
func (r *Registry) Price(model string) (prices.Model, bool) {
	table := r.Prices()
	if table == nil {
		return prices.Model{}, false
	}
	return table.Find(r.fullName(model))
}

// priced yields the models in the price table that a registered provider offers.
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

// Free reports whether calls of the model cost nothing, such as those of a server on the user's own machine.
func (r *Registry) Free(model string) bool {
	prefix, _, _ := strings.Cut(model, "/")
	p := r.providers[prefix]
	if p == nil || !p.local {
		return false
	}
	t, err := r.resolve(model)
	return err == nil && t.key == ""
}

// PriceCall implements [engine.Pricer]: it returns the highest price among the models that may answer a request. Each
// of them must have a price.
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

// dearer returns the factor by which members that a script adds to a request raise the price of its tokens, at most.
func dearer(req *model.Request) float64 {
	if len(req.Params.Extra) == 0 {
		return 1
	}
	_, _, times := wire.ExtraUse(req.Params.Extra)
	return times
}

// ExtraUse reports how members that a script adds to a request affect a call's use at most: how many answers they
// request, whether they set their own limit for them, and the factor by which they raise the price of tokens.
func ExtraUse(extra json.RawMessage) (answers int, limits bool, dearer float64) {
	return wire.ExtraUse(extra)
}

// AnswerSize returns the smallest limit of an answer, thoughts included, that the models which may answer the request
// accept, and the largest size of an answer; 0 is unknown.
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

// takenBy returns the longest limit that a model turned out to accept, 0 if none was refused.
func (r *Registry) takenBy(provider, id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken[tierKey{provider: provider, model: id}]
}

// shortened makes the call again with the limit that its provider accepts, if it refused a longer one that the script
// did not set.
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

// cost adds the price of a call to its usage. A price that the provider reports takes precedence, and a server on the
// user's own machine costs nothing. A call without a known price is counted as unpriced: it is not free.
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
