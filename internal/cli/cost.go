package cli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// costReport is the most that a run of a script can ask of models, by what the script says.
type costReport struct {
	File     string      `json:"file"`
	Code     bool        `json:"code,omitempty"` // main is code: each agent is counted for one call of it
	Items    int         `json:"items"`          // what lists were taken to hold
	Agents   []agentCost `json:"agents"`
	Calls    int64       `json:"calls"`
	Tokens   int64       `json:"tokens,omitempty"`   // in and out; 0 where an agent's are not known
	CostUSD  float64     `json:"cost_usd"`           // of the agents whose price is known
	Unpriced []string    `json:"unpriced,omitempty"` // models without a price or a context window
	date     string
}

type agentCost struct {
	Agent   string   `json:"agent"`
	Model   string   `json:"model"`
	Instead []string `json:"instead,omitempty"` // models that answer when it cannot; the dearest of all counts
	Calls   int64    `json:"calls"`
	PerItem bool     `json:"per_item,omitempty"`
	Tokens  int64    `json:"tokens,omitempty"`
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

// costOf finds the bounds of main and prices them. model is that of agents that name none.
func costOf(file string, m *agentscript.Module, models *llm.Registry, model string, items int) costReport {
	r := costReport{File: file, Items: max(items, 1), date: models.Prices().Date}
	var bounds []flow.Bound
	if main := m.Node("main"); main != nil {
		bounds = flow.Bounds(main, items)
	} else {
		r.Code = true
		for _, n := range setup.AgentsOf(m) {
			bounds = append(bounds, flow.Bounds(n, items)...)
		}
	}
	known := true
	for _, b := range bounds {
		a := agentCost{Agent: b.Agent, Model: cmp.Or(b.Model, model), Calls: b.Calls, PerItem: b.PerItem}
		r.Calls = added(r.Calls, b.Calls)
		for _, name := range append([]string{a.Model}, b.Instead...) {
			tokens, usd, priced, ok := worst(models, name, b)
			if free := models.Free(name); free {
				known, usd, priced = false, 0, true // what it may take is the server's affair
			} else if !ok {
				known = false
			}
			a.Tokens = max(a.Tokens, tokens)
			if priced { // any of them may answer all calls: the dearest counts
				a.CostUSD = dearer(a.CostUSD, usd)
			} else if name = cmp.Or(name, "(the run's model)"); !slices.Contains(r.Unpriced, name) {
				r.Unpriced = append(r.Unpriced, name)
			}
		}
		r.Tokens = added(r.Tokens, a.Tokens)
		if a.CostUSD != nil {
			r.CostUSD += *a.CostUSD
		}
		a.Instead = b.Instead
		r.Agents = append(r.Agents, a)
	}
	if !known {
		r.Tokens = 0
	}
	return r
}

func dearer(have *float64, usd float64) *float64 {
	if have != nil {
		usd = max(usd, *have)
	}
	return &usd
}

// worst is what the calls of a bound come to when each fills the model's window.
func worst(models *llm.Registry, mo string, b flow.Bound) (tokens int64, usd float64, priced, ok bool) {
	m, _ := models.Price(mo)
	if m.Window == 0 {
		return 0, 0, false, false
	}
	out := m.Window
	if b.MaxOut > 0 {
		out = min(b.MaxOut, m.Window)
	}
	// A token out is dearer than one in, with every provider: the window is full of answer as far
	// as the script lets it.
	u := model.Usage{In: m.Window - out, Out: out}
	if b.MaxOut == 0 {
		u = model.Usage{In: m.Window}
		if in, known := m.Cost(u, time.Now()); known {
			if all, _ := m.Cost(model.Usage{Out: m.Window}, time.Now()); all > in {
				u = model.Usage{Out: m.Window}
			}
		}
	}
	each, priced := m.Cost(u, time.Now())
	calls := float64(b.Calls)
	tokens = int64(min(calls*float64(m.Window), math.MaxInt64/2))
	usd = each * calls
	if b.MaxTotal > 0 && b.MaxTotal < tokens {
		usd *= float64(b.MaxTotal) / float64(tokens)
		tokens = b.MaxTotal
	}
	if most, set := b.MaxUSD.USD(); set {
		usd = min(usd, most)
	}
	return tokens, usd, priced, true
}

func added(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// String is what people read.
func (r costReport) String() string {
	var b strings.Builder
	if len(r.Agents) == 0 {
		return fmt.Sprintf("%s: no model is called\n", r.File)
	}
	what := "a run makes"
	if r.Code {
		what = "main is code: one call of each agent makes"
	}
	fmt.Fprintf(&b, "%s: %s at most %s", r.File, what, number(r.Calls)+" "+text.Noun(r.Calls, "model call"))
	if r.Tokens > 0 {
		fmt.Fprintf(&b, ", %s in and out", number(r.Tokens)+" "+text.Noun(r.Tokens, "token"))
	}
	if r.CostUSD > 0 {
		fmt.Fprintf(&b, ", $%s", term.Amount(r.CostUSD))
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "  AGENT\tMODEL\tCALLS\tTOKENS\tAT MOST")
	items := false
	for _, a := range r.Agents {
		calls, tokens, usd := number(a.Calls), "?", "?"
		if a.PerItem {
			calls, items = calls+"*", true
		}
		if a.Tokens > 0 {
			tokens = number(a.Tokens)
		}
		if a.CostUSD != nil {
			usd = "$" + term.Amount(*a.CostUSD)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", a.Agent, strings.Join(append([]string{cmp.Or(a.Model, "(the run's)")}, a.Instead...), " or "), calls, tokens, usd)
	}
	_ = w.Flush() // a Builder takes everything
	if items {
		fmt.Fprintf(&b, "  * for lists of %s, whose length only a run knows: --items N\n", text.Count(r.Items, "item"))
	}
	if len(r.Unpriced) > 0 {
		fmt.Fprintf(&b, "  no price or context window is known for %s: it is not in the sum (--prices FILE, --model)\n", strings.Join(r.Unpriced, ", "))
	}
	fmt.Fprintf(&b, "  every call filling the model's context window, at prices of %s\n", r.date)
	return b.String()
}

func number(n int64) string {
	if n == math.MaxInt64 {
		return "without bound"
	}
	return fmt.Sprint(n)
}
