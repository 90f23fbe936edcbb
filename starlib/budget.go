package starlib

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

func budgetParams() []Param {
	opt := func(name string, kind Kind, def, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: def, Doc: doc}
	}
	return []Param{
		{Name: "name", Kind: hinted(nameKind, func(v starlark.Value) string {
			if _, number := acceptFloat(v); number {
				return hintBudget(v)
			}
			return ""
		}), Default: "None", Doc: "makes it one budget for all that are given it: what one uses is gone for the others; without a name each call has its own"},
		opt("turns", capKind("the agent could not answer", "an agent that calls no model is agent(run = f)"), "8", "model calls in one call of the agent"),
		opt("tool_calls", countKind, "32", "tool calls in one call of the agent"),
		opt("model_calls", capKind("no model could be called", "leave model_calls out to set no bound; an agent that calls no model is agent(run = f)"), "None", "model calls, of everything inside"),
		opt("tokens", capKind("no model could be called", "leave tokens out to set no bound"), "None", "in and out together; a call begins when what it may need is there"),
		opt("usd", usdKind, "None", "money, in US dollars; a model whose price is not known is not called"),
		opt("steps", capKind("no function could run", "leave steps out to set no bound"), "None", "steps of the script's own code"),
		opt("wall", timeKind, "5m", `time: "90s", "2m", "1h", or seconds. By default no turn begins after 5 minutes; one that is given also cuts off what runs then`),
		opt("depth", capKind("the agent could not be called", "depth = 1 is an agent that calls no other"), "16", "agents that call each other, this one counted"),
		opt("same_call", capKind("no tool could be called", "tool_calls = 0 forbids calls"), "8", "how often one tool may be asked for the same, with nothing else in between"),
		opt("arg_bytes", capKind("no tool could be called", "tool_calls = 0 forbids calls"), "None", "length of a tool call's arguments; the model is told of one that is longer, which is not made"),
		opt("on_limit", oneOf("fail", "answer"), `"fail"`, `"answer" asks for a last answer, without tools, when a bound is reached; room for it is kept`),
		opt("warn_at", warningsKind, "[0.8]", "parts of a bound at which an event is told, from 0 to 1"),
	}
}

// hintBudget says what to write instead of what is no budget.
func hintBudget(v starlark.Value) string {
	switch v := v.(type) {
	case *starlark.Dict:
		var words []string
		for _, item := range v.Items() {
			name, ok := item[0].(starlark.String)
			if !ok || !slices.ContainsFunc(budgetParams(), func(p Param) bool { return p.Name == string(name) }) {
				return "write budget(turns = ...)"
			}
			words = append(words, string(name)+" = "+item[1].String())
		}
		return "write budget(" + joined(words) + ")"
	case starlark.Int:
		return fmt.Sprintf("say what it bounds: budget(turns = %s), budget(tokens = ...), budget(usd = ...)", v)
	case starlark.Float:
		return fmt.Sprintf("say what it bounds: budget(usd = %s), budget(turns = ...)", v)
	}
	return "write budget(turns = ...)"
}

var (
	usdKind = vetted(FloatKind, func(_ *Param, v starlark.Value) []fault {
		if usd := floatOf(v); !(usd > 0) || usd > engine.MaxCostUSD {
			return wrong("leave usd out to set no bound", "want an amount above 0 and up to a million dollars, got %v", usd)
		}
		return nil
	})
	warningKind = vetted(FloatKind, func(_ *Param, v starlark.Value) []fault {
		if part := floatOf(v); !(part > 0 && part <= 1) {
			help := "half of a bound is 0.5"
			if part > 1 && part <= 100 {
				help = fmt.Sprintf("%g of 100 is %g", part, part/100)
			}
			return wrong(help, "want parts above 0 and up to 1, got %v", part)
		}
		return nil
	})
	warningsKind = vetted(listOf(warningKind), func(_ *Param, v starlark.Value) []fault {
		if n := starlark.Len(v); n > mostWarnings {
			return wrong("each is an event that somebody is to read", "want at most %d parts, got %d", mostWarnings, n)
		}
		return nil
	})
)

func budgetFunc(c *Call) (starlark.Value, error) {
	l := engine.Limits{Name: c.Str("name"), Wall: c.duration("wall")}
	for _, r := range []struct {
		name string
		to   *engine.Cap
	}{{"turns", &l.Turns}, {"tool_calls", &l.ToolCalls}, {"model_calls", &l.ModelCalls}, {"tokens", &l.Tokens}, {"steps", &l.Steps},
		{"depth", &l.Depth}, {"same_call", &l.SameCall}, {"arg_bytes", &l.ArgBytes}} {
		if c.Has(r.name) {
			*r.to = engine.AtMost(int64(c.Int(r.name, 1)))
		}
	}
	if usd := c.Float("usd"); usd != nil {
		l.USD = engine.Dollars(*usd)
	}
	if c.Str("on_limit") == "answer" {
		l.OnLimit = engine.OnLimitAnswer
	}
	if c.Has("warn_at") {
		l.WarnAt = []float64{}
		for item := range c.items("warn_at") {
			l.WarnAt = append(l.WarnAt, floatOf(item))
		}
		slices.Sort(l.WarnAt)
		l.WarnAt = slices.Compact(l.WarnAt)
	}
	if !c.flawed {
		c.sameBudget(&l)
	}
	return &budgetValue{limits: l}, nil
}

// mostWarnings bounds the parts of a bound that are told.
const mostWarnings = 100

// namedBudget is where a budget of a name was made first.
type namedBudget struct {
	limits engine.Limits
	at     diag.Span
}

// sameBudget refuses a budget of a name that one with other bounds has.
func (c *Call) sameBudget(l *engine.Limits) {
	if l.Name == "" || c.running() { // a run takes the least of them
		return
	}
	first, known := c.state.budgets[l.Name]
	switch {
	case !known:
		if c.state.budgets == nil {
			c.state.budgets = map[string]namedBudget{}
		}
		c.state.budgets[l.Name] = namedBudget{*l, c.fnSpan()}
	case !first.limits.Same(l):
		d := c.complain(diag.BudgetsDiffer, c.fnSpan(), "two budgets are named %q, and their bounds differ", l.Name)
		d.Notes = append(d.Notes, diag.Note{Pos: first.at.Pos, Message: "the first is made"})
		d.Help = []string{"make it once and give it to each: x = budget(\"" + l.Name + "\", ...)"}
	}
}

func boundedFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	if c.stood {
		return c.standIn(), nil
	}
	body := c.nodeArg("node")
	l := c.Arg("budget").(*budgetValue).limits
	for _, r := range []struct {
		word string
		set  bool
	}{{"same_call", l.SameCall != engine.Cap{}}, {"arg_bytes", l.ArgBytes != engine.Cap{}}, {"on_limit", l.OnLimit != engine.OnLimitFail}} {
		if r.set && l.Name == "" {
			c.complain(diag.WrongArgument, c.spanOf("budget"), "bounded: %s is about the conversation of one agent", r.word).Help =
				[]string{"give it to the agent: agent(budget = budget(" + r.word + " = ...))"}
		}
	}
	if len(c.wrong) > 0 {
		return nil, nil
	}
	site := c.nodeSite()
	site.Args = []diag.Span{c.spanOf("node")}
	return c.state.node(c.state.session.Bounded(site, body, l)), nil
}
