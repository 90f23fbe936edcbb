// Package cost computes an upper bound on what a run of a script can spend on models, from the script alone.
package cost

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Report is the most that a run of a script can spend on models.
type Report struct {
	File     string   `json:"file"`
	Code     bool     `json:"code,omitempty"` // it calls agents: each is counted for one call by it
	Items    int      `json:"items"`          // what lists were taken to hold
	Agents   []Agent  `json:"agents"`
	Calls    int64    `json:"calls"`
	Tokens   int64    `json:"tokens,omitempty"`   // in and out; 0 if unknown for an agent
	CostUSD  float64  `json:"cost_usd"`           // of the agents with a known price
	Unpriced []string `json:"unpriced,omitempty"` // models without a price or a context window
	Shared   []Shared `json:"shared,omitempty"`   // budgets shared by several agents, which the sums respect
	// OverrunUSD is the most that the budgets may be overrun, if every call in flight reads one token per byte
	// of its text.
	OverrunUSD float64 `json:"overrun_usd,omitempty"`
	// RunCalls and RunUSD are set for code, which may call its agents again: the most of a whole run.
	RunCalls int64    `json:"run_calls,omitempty"`
	RunUSD   *float64 `json:"run_usd,omitempty"`
	// RetriedUSD is what a run may spend in addition, on answers that break off and are requested again.
	RetriedUSD float64 `json:"retried_usd,omitempty"`

	date string
}

// Agent is the share of one agent.
type Agent struct {
	Agent   string   `json:"agent"`
	Model   string   `json:"model"`
	Instead []string `json:"instead,omitempty"` // fallback models; the most expensive of all counts
	Calls   int64    `json:"calls"`
	PerItem bool     `json:"per_item,omitempty"`
	Tokens  int64    `json:"tokens,omitempty"`
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

// Shared is a budget shared by several agents.
type Shared struct {
	Budget string   `json:"budget"`
	Agents []string `json:"agents"`
	Use
}

// Use is the most that calls can use. Tokens are 0 and the costs nil if unknown.
type Use struct {
	Calls   int64    `json:"calls"`
	Tokens  int64    `json:"tokens,omitempty"`
	CostUSD *float64 `json:"cost_usd,omitempty"`
}

// misjudged is the largest ratio of an input's tokens to the estimate: the estimate is a quarter of its bytes,
// and no byte is more than a token.
const misjudged = 4

// runCalls is the default bound on the model calls of a run.
const runCalls = 1000

// most is the most that calls can use. Money is kept as allowed by budgets, and as spent if those are overrun.
type most struct {
	calls    int64
	tokens   float64
	usd      float64
	over     float64
	in, rate float64 // the price of the most expensive input token, and of the most expensive token
	unknown  bool    // the tokens are unknown
	unpriced bool
}

// Of computes the report of a script from the bounds of its main and of what code calls; code reports whether there is
// any. name is the model of agents that name none.
func Of(file string, code bool, items int, bounds []flow.Bound, shared []flow.Shared, models *llm.Registry, name string) Report {
	r := Report{File: file, Code: code, Items: items, date: models.Prices().Date}
	each, tried := make([]most, len(bounds)), make([]most, len(bounds))
	dearest, retried := 0.0, 0.0
	for i, b := range bounds {
		a := Agent{Agent: b.Agent, Model: cmp.Or(b.Model, name), Calls: b.Calls, PerItem: b.PerItem, Instead: b.Instead}
		each[i], tried[i] = r.worst(models, a.Model, b, 1), r.worst(models, a.Model, b, attempts(b))
		if m := each[i]; !m.unpriced {
			a.CostUSD = &m.usd
		}
		a.Tokens = whole(each[i].tokens)
		one := b
		one.Calls, one.MaxTotal = 1, 0
		dearest, retried = max(dearest, r.worst(models, a.Model, one, 1).over), max(retried, r.worst(models, a.Model, one, attempts(b)).over)
		r.Agents = append(r.Agents, a)
	}
	total, groups := sum(each, shared)
	again, _ := sum(tried, shared)
	r.RetriedUSD = max(again.usd-total.usd, 0)
	for i, s := range shared {
		g := Shared{Budget: s.Budget, Use: Use{Calls: groups[i].calls}}
		for _, of := range s.Of {
			g.Agents = append(g.Agents, bounds[of].Agent)
		}
		if !groups[i].unknown {
			g.Tokens = whole(groups[i].tokens)
		}
		if !groups[i].unpriced {
			g.CostUSD = &groups[i].usd
		}
		r.Shared = append(r.Shared, g)
	}
	r.Calls, r.CostUSD, r.OverrunUSD = total.calls, total.usd, max(total.over-total.usd, 0)
	if !total.unknown {
		r.Tokens = whole(total.tokens)
	}
	if code && len(bounds) > 0 {
		r.RunCalls = runCalls
		if usd := runCalls * dearest; !total.unpriced {
			r.RunUSD, r.RetriedUSD = &usd, max(runCalls*retried-usd, 0)
		}
	}
	return r
}

// attempts returns how often an answer is requested at most if it breaks off each time.
func attempts(b flow.Bound) int64 {
	p := llm.DefaultRetry()
	return int64(min(p.Attempts*(1+len(b.Instead)), p.Total))
}

// worst returns the most that the calls of a bound use, each made times times, if each fills the model's window, with
// the most expensive of the models that may answer.
func (r *Report) worst(models *llm.Registry, name string, b flow.Bound, times int64) most {
	out := most{calls: b.Calls}
	for _, name := range append([]string{name}, b.Instead...) {
		m, known, priced := reckoned(models, name, b, times)
		out.tokens, out.usd, out.in, out.rate = max(out.tokens, m.tokens), max(out.usd, m.usd), max(out.in, m.in), max(out.rate, m.rate)
		out.unknown = out.unknown || !known
		if out.unpriced = out.unpriced || !priced; !priced {
			if name = cmp.Or(name, "(the run's model)"); !slices.Contains(r.Unpriced, name) {
				r.Unpriced = append(r.Unpriced, name)
			}
		}
	}
	out.over = out.usd
	if b.MaxTotal > 0 {
		out.over += (misjudged - 1) * out.tokens * out.in
	}
	return out.within(math.MaxInt64, 0, b)
}

// within applies a budget.
func (m most) within(calls, tokens int64, b flow.Bound) most {
	m.calls = min(m.calls, calls)
	if tokens > 0 && float64(tokens) < m.tokens {
		m.tokens = float64(tokens)
		m.usd = min(m.usd, m.tokens*m.rate)
		m.over = min(m.over, m.usd+(misjudged-1)*m.tokens*m.in)
	}
	if usd, set := b.MaxUSD.USD(); set && usd < m.usd {
		m.usd, m.over = usd, min(m.over, misjudged*usd)
	}
	return m
}

// reckoned returns the most that the calls of a bound use with one model: as many tokens as its window and its answers
// hold, and of those as many of the more expensive kind as possible. known and priced report whether that is known.
func reckoned(models *llm.Registry, name string, b flow.Bound, times int64) (out most, known, priced bool) {
	if models.Free(name) { // the server determines its window
		return out, false, true
	}
	m, _ := models.Price(name)
	prompt := m.Window
	if b.MaxTotal > 0 {
		prompt = int(min(int64(prompt), b.MaxTotal))
	}
	d, priced := m.Dearest(time.Now(), prompt)
	if m.Window == 0 || !priced {
		return out, false, false
	}
	window, calls := float64(m.Window), float64(b.Calls)*float64(times)
	_, longest := models.AnswerSize(&model.Request{Model: name})
	answer := window
	if longest > 0 {
		answer = float64(longest)
	}
	count, limits, dearer := llm.ExtraUse(b.Extra)
	if b.MaxOut > 0 && !limits {
		answer = min(answer, float64(b.MaxOut))
	}
	each := window
	if strings.HasPrefix(name, "google") || strings.HasPrefix(name, "gemini") { // its window does not include the answer
		each += answer
	}
	each, answer = each+float64(count-1)*answer, float64(count)*answer // each of the answers has the limit
	if out.tokens = calls * each; b.MaxTotal > 0 {
		out.tokens = min(out.tokens, float64(b.MaxTotal))
	}
	written := min(calls*answer, out.tokens)
	if d.Out < d.In {
		written = max(out.tokens-calls*window, 0)
	}
	out.usd, out.in, out.rate = dearer*(written*d.Out+(out.tokens-written)*d.In+calls*d.Call), dearer*d.In, dearer*max(d.In, d.Out)
	return out, true, true
}

// sum adds up the bounds within the budgets that they share, starting with the budgets of the fewest agents. A
// bound in overlapping budgets counts within the first only, so the sum is never too low.
func sum(each []most, shared []flow.Shared) (total most, groups []most) {
	group := make([]int, len(each)) // the group of each bound, named by one of its members
	value := map[int]most{}
	for i, m := range each {
		group[i], value[i] = i, m
	}
	for _, s := range shared {
		inside, whole := most{}, []int{}
		for g := range value {
			in, out := 0, 0
			for i := range group {
				switch {
				case group[i] != g:
				case slices.Contains(s.Of, i):
					in++
				default:
					out++
				}
			}
			if in > 0 && out == 0 {
				whole = append(whole, g)
			}
		}
		slices.Sort(whole)
		for _, g := range whole {
			inside = inside.and(value[g])
			delete(value, g)
		}
		if len(whole) == 0 {
			groups = append(groups, inside)
			continue
		}
		inside = inside.within(s.Calls, s.MaxTotal, flow.Bound{MaxUSD: s.MaxUSD})
		for i := range group {
			if slices.Contains(whole, group[i]) {
				group[i] = whole[0]
			}
		}
		value[whole[0]] = inside
		groups = append(groups, inside)
	}
	for _, m := range value {
		total = total.and(m)
	}
	return total, groups
}

func (m most) and(n most) most {
	calls := m.calls + n.calls
	if m.calls > math.MaxInt64-n.calls {
		calls = math.MaxInt64
	}
	return most{calls, m.tokens + n.tokens, m.usd + n.usd, m.over + n.over, max(m.in, n.in), max(m.rate, n.rate), m.unknown || n.unknown, m.unpriced || n.unpriced}
}

func whole(tokens float64) int64 { return int64(min(tokens, math.MaxInt64/2)) }

// String formats the report for people.
func (r Report) String() string {
	var b strings.Builder
	if len(r.Agents) == 0 {
		return fmt.Sprintf("%s: no model is called\n", r.File)
	}
	what := "a run makes"
	if r.Code {
		what = "with one call of each node that code calls, a run makes"
	}
	fmt.Fprintf(&b, "%s: %s at most %s", r.File, what, number(r.Calls)+" "+text.Noun(r.Calls, "model call"))
	if r.Tokens > 0 {
		fmt.Fprintf(&b, ", %s in and out", number(r.Tokens)+" "+text.Noun(r.Tokens, "token"))
	}
	if r.CostUSD > 0 {
		fmt.Fprintf(&b, ", $%s", term.Amount(r.CostUSD))
	}
	b.WriteString("\n")
	items := false
	b.WriteString(term.Table(3, func(w io.Writer) {
		fmt.Fprintln(w, "  AGENT\tMODEL\tCALLS\tTOKENS\tAT MOST")
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
	}) + "\n")
	if items {
		fmt.Fprintf(&b, "  * for lists of %s, whose length only a run knows: --items N\n", text.Count(r.Items, "item"))
	}
	for _, s := range r.Shared {
		fmt.Fprintf(&b, "  %s holds for %s together: %s\n", s.Budget, strings.Join(s.Agents, ", "), s.Use)
	}
	if len(r.Unpriced) > 0 {
		fmt.Fprintf(&b, "  no price or context window is known for %s: it is not in the sum (--prices FILE, --model)\n", strings.Join(r.Unpriced, ", "))
	}
	if r.OverrunUSD > 0 {
		fmt.Fprintf(&b, "  budgets may be overrun by what calls in flight read beyond what was reckoned: by $%s at most\n", term.Amount(r.OverrunUSD))
	}
	if r.RunCalls > 0 {
		fmt.Fprintf(&b, "  code may call them again: a run makes at most %d model calls (--max-model-calls)", r.RunCalls)
		if r.RunUSD != nil {
			fmt.Fprintf(&b, ", $%s", term.Amount(*r.RunUSD))
		}
		b.WriteString("\n")
	}
	if r.RetriedUSD > 0 {
		fmt.Fprintf(&b, "  answers that break off are charged and requested again: $%s more at most\n", term.Amount(r.RetriedUSD))
	}
	fmt.Fprintf(&b, "  every call filling the model's context window, at prices of %s\n", r.date)
	return b.String()
}

// String formats a use for people.
func (u Use) String() string {
	parts := []string{number(u.Calls) + " " + text.Noun(u.Calls, "model call")}
	if u.Tokens > 0 {
		parts = append(parts, number(u.Tokens)+" "+text.Noun(u.Tokens, "token"))
	}
	if u.CostUSD != nil {
		parts = append(parts, "$"+term.Amount(*u.CostUSD))
	}
	return strings.Join(parts, ", ")
}

func number(n int64) string {
	if n == math.MaxInt64 {
		return "without bound"
	}
	return fmt.Sprint(n)
}
