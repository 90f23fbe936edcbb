package llm

import (
	"cmp"
	"iter"
	"strings"
	"time"

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
	return usd, ""
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
			u.CostUSD = usd
			return
		}
	}
	u.Unpriced = 1
}
