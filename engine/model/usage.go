package model

import (
	"math"
	"unicode/utf8"
)

// Usage counts what a call consumed. In includes cached tokens, Out includes reasoning.
type Usage struct {
	In         int  `json:"in"`
	Out        int  `json:"out"`
	Reasoning  int  `json:"reasoning,omitempty"`
	CacheRead  int  `json:"cache_read,omitempty"`
	CacheWrite int  `json:"cache_write,omitempty"`
	Estimated  bool `json:"estimated,omitempty"` // the provider reported no usage; counted as runes/4
	// CostUSD is the cost, in US dollars, of the calls whose price is known. Unpriced counts the others: with any of
	// them, a sum is a lower bound.
	CostUSD  float64 `json:"cost_usd,omitempty"`
	Unpriced int     `json:"unpriced,omitempty"`
}

// MaxUsage is the largest token count of any kind that is accepted for one call.
const MaxUsage = 1_000_000_000

// Plausible reports whether all counts are between 0 and [MaxUsage]. Other counts come from broken or hostile servers,
// and would disable a budget.
func (u Usage) Plausible() bool {
	for _, n := range [...]int{u.In, u.Out, u.Reasoning, u.CacheRead, u.CacheWrite} {
		if n < 0 || n > MaxUsage {
			return false
		}
	}
	return u.CostUSD >= 0 && u.CostUSD <= MaxCostUSD && u.Unpriced >= 0
}

// MaxCostUSD is the highest cost that is accepted for one call, in US dollars.
const MaxCostUSD = 1e6

// Add returns the sum of two usages. A sum that overflows stays at the largest int.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		In: sum(u.In, v.In), Out: sum(u.Out, v.Out), Reasoning: sum(u.Reasoning, v.Reasoning),
		CacheRead: sum(u.CacheRead, v.CacheRead), CacheWrite: sum(u.CacheWrite, v.CacheWrite),
		Estimated: u.Estimated || v.Estimated, CostUSD: u.CostUSD + v.CostUSD, Unpriced: sum(u.Unpriced, v.Unpriced),
	}
}

func sum(a, b int) int {
	switch {
	case b > 0 && a > math.MaxInt-b:
		return math.MaxInt
	case b < 0 && a < math.MinInt-b:
		return math.MinInt
	}
	return a + b
}

// EstimateUsage counts a quarter of the runes as tokens, for a call without a plausible usage. Either argument may be
// nil.
func EstimateUsage(req *Request, r *Response) Usage {
	in, out := 0, 0
	if req != nil {
		in = utf8.RuneCountInString(req.System)
		for i := range req.Messages {
			in += runes(req.Messages[i].Parts)
		}
		for i := range req.Tools {
			in += utf8.RuneCountInString(req.Tools[i].Name) + utf8.RuneCountInString(req.Tools[i].Description)
		}
	}
	if r != nil {
		out = runes(r.Parts)
	}
	return Usage{In: (in + 3) / 4, Out: (out + 3) / 4, Estimated: true}
}

func runes(parts []Part) int {
	n := 0
	for i := range parts {
		p := &parts[i]
		n += utf8.RuneCountInString(p.Text)
		if p.Call != nil {
			n += utf8.RuneCountInString(p.Call.Name) + utf8.RuneCountInString(p.Call.Args)
		}
		if p.Result != nil {
			n += utf8.RuneCountInString(p.Result.Text)
		}
	}
	return n
}
