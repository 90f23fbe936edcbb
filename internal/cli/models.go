package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/spf13/cobra"
)

func modelsVerb(c *term.Console) *cobra.Command {
	var asJSON bool
	var envFile, priceFile string
	cmd := &cobra.Command{
		Use:   "models [PATTERN]",
		Short: "List models, their prices and context windows, and whether a key is there",
		Long: "Models lists the models whose name holds PATTERN, in which * stands for anything: what the port can ask of each (tools, schema, JSON, stream), " +
			"its context window, and what a million tokens cost in US dollars. Without a PATTERN it lists the providers and what each of them needs. " +
			"No network is used: names, windows and prices are of a table whose day is shown, and of your own --prices.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return term.Usagef("quote a pattern with blanks or *", "models takes one PATTERN, and got %d", len(args))
			}
			registry, problem := setup.Registry(c, envFile, priceFile)
			if problem != nil {
				return problem
			}
			if len(args) == 0 {
				return c.PrintAs(asJSON, registry.Providers(), func() string { return providerList(registry) })
			}
			found := registry.Models(args[0])
			if len(found) == 0 {
				return term.Usagef("agentscript models lists the providers; a name that the table does not hold works as well, if the provider knows it"+nearModel(registry, args[0]),
					"no model is known whose name holds %q", args[0])
			}
			return c.PrintAs(asJSON, found, func() string { return modelList(registry, found) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.StringVar(&envFile, "env-file", "", "read keys and addresses from this `FILE` of NAME=value lines as well")
	f.StringVar(&priceFile, "prices", "", "prices and context windows of your own, a `FILE` of JSON that goes before the table")
	return cmd
}

func providerList(r *llm.Registry) string {
	return term.Table(3, func(w io.Writer) {
		fmt.Fprintln(w, "PROVIDER\tREADY\tKEY\tADDRESS")
		for _, p := range r.Providers() {
			key, address := strings.Join(p.Keys, " or "), p.BaseURL
			if p.Keyless {
				key = "none needed"
			}
			if address == "" && len(p.BaseEnv) > 0 {
				address = "set " + p.BaseEnv[0]
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, yesNo(p.Ready), key, address)
		}
	}) + "\n\nagentscript models PATTERN lists models: agentscript models openai/gpt-5"
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func modelList(r *llm.Registry, models []llm.ModelInfo) string {
	list := term.Table(3, func(w io.Writer) {
		fmt.Fprintln(w, "MODEL\tREADY\tCAN\tCONTEXT\tIN\tOUT\tCACHED IN")
		for _, m := range models {
			context, in, out, cached := "?", "?", "?", "?"
			if m.Context > 0 {
				context = strconv.Itoa(m.Context)
			}
			if p := m.Prices; p != nil {
				in, out, cached = dollars(p.In), dollars(p.Out), dollars(p.CacheRead)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Model, yesNo(m.Ready), abilities(m.Caps), context, in, out, cached)
		}
	})
	if len(models) == 1 && !models[0].Listed {
		list += fmt.Sprintf("\n\n%s is not in the table; its provider may know it%s", models[0].Model, nearModel(r, models[0].Model))
	}
	table := r.Prices()
	return list + fmt.Sprintf("\n\nUS dollars for a million tokens, as of %s (%s); ? is not known", table.Date, table.Source)
}

func abilities(c llm.Caps) string {
	var words []string
	for _, can := range []struct {
		is   bool
		word string
	}{{c.Tools, "tools"}, {c.Schema, "schema"}, {!c.Schema && c.JSONMode, "json"}, {c.Stream, "stream"}} {
		if can.is {
			words = append(words, can.word)
		}
	}
	return strings.Join(words, " ")
}

func dollars(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// nearModel is a question after a name of the table like this one, "" when there is none.
func nearModel(r *llm.Registry, name string) string {
	provider, _, _ := strings.Cut(name, "/")
	names := text.Each(r.Models(provider+"/"), func(m llm.ModelInfo) string { return m.Model })
	if near, is := diag.Suggest(name, names); is {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

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
				if a.CostUSD != nil {
					usd = max(usd, *a.CostUSD)
				}
				a.CostUSD = &usd
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

// worst is what the calls of a bound come to when each fills the model's window.
func worst(models *llm.Registry, name string, b flow.Bound) (tokens int64, usd float64, priced, ok bool) {
	m, _ := models.Price(name)
	if m.Window == 0 {
		return 0, 0, false, false
	}
	// The window is full of what is dearer, in or out: of answer as far as the script lets it.
	out := m.Window
	if b.MaxOut > 0 {
		out = min(b.MaxOut, m.Window)
	}
	each, priced := m.Cost(model.Usage{In: m.Window - out, Out: out}, time.Now())
	if in, _ := m.Cost(model.Usage{In: m.Window}, time.Now()); b.MaxOut == 0 {
		each = max(each, in)
	}
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
