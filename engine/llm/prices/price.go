package prices

import (
	"encoding/json"
	"time"

	"github.com/agentscript/agentscript/internal/sorting"
)

// price is the price of a model: always, from a day on, or between two times of day.
type price struct {
	In, Out, Read, Write, Thought *rate // per million tokens
	Request                       *rate // per thousand calls

	Since string // 2006-01-02, "" for always
	From  string // 15:04:05Z, "" for the whole day
	Until string
}

// at returns the price that applies at a time: the last one that matches.
func (m Model) at(now time.Time) *price {
	now = now.UTC()
	for i := len(m.prices) - 1; i >= 0; i-- {
		if m.prices[i].holds(now) {
			return &m.prices[i]
		}
	}
	if len(m.prices) > 0 {
		return &m.prices[0]
	}
	return nil
}

// Dearest is the maximum price of an input token, an output token and a call.
type Dearest struct{ In, Out, Call float64 }

// Dearest returns the highest prices at any time of a day for prompts of at most the given number of tokens, including
// reasoning and cache writes, and reports whether they are known.
func (m Model) Dearest(day time.Time, prompt int) (d Dearest, known bool) {
	today := day.UTC().Format(time.DateOnly)
	for i := len(m.prices) - 1; i >= 0; i-- {
		p := &m.prices[i]
		if p.Since > today && i > 0 {
			continue
		}
		if p.In != nil || p.Request != nil {
			known = true
		}
		for _, r := range [...]*rate{p.In, p.Read.or(p.In), p.Write.or(p.In)} {
			d.In = max(d.In, r.most(prompt)/1e6)
		}
		for _, r := range [...]*rate{p.Out, p.Thought.or(p.Out)} {
			d.Out = max(d.Out, r.most(prompt)/1e6)
		}
		d.Call = max(d.Call, p.Request.most(0)/1e3)
		if p.From == "" { // it applies all day long, whatever applied before
			break
		}
	}
	return d, known
}

// most returns the highest price of a prompt of at most the given number of tokens.
func (r *rate) most(prompt int) float64 {
	if r == nil {
		return 0
	}
	usd := r.base
	for _, t := range r.tiers {
		if prompt > t.Start {
			usd = max(usd, t.Price)
		}
	}
	return usd
}

func (p *price) holds(now time.Time) bool {
	if p.Since != "" {
		return now.Format(time.DateOnly) >= p.Since
	}
	if p.From == "" {
		return true
	}
	clock := now.Format("15:04:05") + "Z"
	if p.Until < p.From { // across midnight
		return clock >= p.From || clock < p.Until
	}
	return clock >= p.From && clock < p.Until
}

// rate is a price that may depend on the length of the prompt.
type rate struct {
	base  float64
	tiers []tier // by their start
}

type tier struct {
	Start int     `json:"start"` // applies to prompts with more tokens than this
	Price float64 `json:"price"`
}

func (r *rate) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &r.base); err == nil {
		return nil
	}
	var tiered struct {
		Base  float64
		Tiers []tier
	}
	if err := json.Unmarshal(data, &tiered); err != nil {
		return err
	}
	sorting.By(tiered.Tiers, func(a, b tier) int { return a.Start - b.Start })
	r.base, r.tiers = tiered.Base, tiered.Tiers
	return nil
}

// of returns the price for a prompt of a number of tokens; without a rate it is 0.
func (r *rate) of(prompt int) float64 {
	if r == nil {
		return 0
	}
	usd := r.base
	for _, t := range r.tiers {
		if prompt > t.Start {
			usd = t.Price
		}
	}
	return usd
}

// or returns the rate, or else the rate of the whole that it is part of.
func (r *rate) or(whole *rate) *rate {
	if r == nil {
		return whole
	}
	return r
}
