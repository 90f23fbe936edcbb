package agents

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
)

func budgetParams() []table.Param {
	return []table.Param{
		{Name: "name", Kind: table.Hinted(table.NameKind, func(v starlark.Value) string {
			if _, number := table.AcceptFloat(v); number {
				return hintBudget(v)
			}
			return ""
		}), Default: "None", Doc: "makes it one budget, shared by all that have it: what one uses is no longer available to the others. Without a name, each call has its own"},
		table.Opt("turns", table.CapKind("the agent could not answer", "an agent that calls no model is agent(run = f)"), "8", "model calls in one call of the agent"),
		table.Opt("tool_calls", table.CountKind, "32", "tool calls in one call of the agent"),
		table.Opt("model_calls", table.CapKind("no model could be called", "leave model_calls out to set no bound; an agent that calls no model is agent(run = f)"), "None", "model calls, including those of everything inside"),
		table.Opt("tokens", table.CapKind("no model could be called", "leave tokens out to set no bound"), "None", "input and output tokens together; each call is sent with the tokens left for its answer as its limit"),
		table.Opt("usd", usdKind, "None", "money, in US dollars; a model whose price is unknown is not called"),
		table.Opt("steps", table.CapKind("no function could run", "leave steps out to set no bound"), "None", "steps of the script's own code"),
		table.Opt("wall", table.TimeKind, "5m", `the time limit: "90s", "2m", "1h", or seconds. By default, no turn begins after 5 minutes; a limit set here also interrupts what is running when it is reached`),
		table.Opt("depth", table.CapKind("the agent could not be called", "depth = 1 is an agent that calls no other"), "16", "how deep agents may call each other, including this one"),
		table.Opt("same_call", table.CapKind("no tool could be called", "tool_calls = 0 forbids calls"), "8", "how many times in a row the model may request the same tool call"),
		table.Opt("arg_bytes", table.CapKind("no tool could be called", "tool_calls = 0 forbids calls"), "None", "the maximum length of a tool call's arguments; a longer call is not made, and the model receives the reason"),
		table.Opt("on_limit", table.OneOf("fail", "answer"), `"fail"`, `"answer" asks for a last answer, without tools, when a bound is reached; part of the budget is reserved for it`),
		table.Opt("warn_at", warningsKind, "[0.8]", "fractions of a bound, from 0 to 1, at which an event is sent"),
	}
}

// hintBudget says what to write instead of a value that is not a budget.
func hintBudget(v starlark.Value) string {
	switch v := v.(type) {
	case *starlark.Dict:
		var words []string
		for _, item := range v.Items() {
			name, ok := item[0].(starlark.String)
			if !ok || !slices.ContainsFunc(budgetParams(), func(p table.Param) bool { return p.Name == string(name) }) {
				return "write budget(turns = ...)"
			}
			words = append(words, string(name)+" = "+item[1].String())
		}
		return "write budget(" + script.Joined(words) + ")"
	case starlark.Int:
		return fmt.Sprintf("say what it bounds: budget(turns = %s), budget(tokens = ...), budget(usd = ...)", v)
	case starlark.Float:
		return fmt.Sprintf("say what it bounds: budget(usd = %s), budget(turns = ...)", v)
	}
	return "write budget(turns = ...)"
}

var (
	usdKind = table.Vetted(table.FloatKind, func(_ *table.Param, v starlark.Value) []table.Fault {
		usd := table.FloatOf(v)
		return table.FaultIf(!(usd > 0) || usd > model.MaxCostUSD, "leave usd out to set no bound", "want an amount above 0 and up to a million dollars, got %v", usd)
	})
	warningKind = table.Vetted(table.FloatKind, func(_ *table.Param, v starlark.Value) []table.Fault {
		part, help := table.FloatOf(v), "half of a bound is 0.5"
		if part > 1 && part <= 100 {
			help = fmt.Sprintf("%g of 100 is %g", part, part/100)
		}
		return table.FaultIf(!(part > 0 && part <= 1), help, "want parts above 0 and up to 1, got %v", part)
	})
	warningsKind = table.Vetted(table.ListOf(warningKind), func(_ *table.Param, v starlark.Value) []table.Fault {
		n := starlark.Len(v)
		return table.FaultIf(n > mostWarnings, "each is an event that someone has to read", "want at most %d parts, got %d", mostWarnings, n)
	})
)

func budgetFunc(c *table.Call) (starlark.Value, error) {
	l := engine.Limits{Name: c.Str("name"), Wall: c.Duration("wall")}
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
		l.WarnAt = text.Each(c.List("warn_at"), table.FloatOf)
		slices.Sort(l.WarnAt)
		l.WarnAt = slices.Compact(l.WarnAt)
	}
	if !c.Flawed {
		sameBudget(c, &l)
	}
	return &value.Budget{Limits: l}, nil
}

// mostWarnings bounds the parts of a bound that are reported.
const mostWarnings = 100

// sameBudget reports a budget with the name of an earlier one whose bounds differ.
func sameBudget(c *table.Call, l *engine.Limits) {
	if l.Name == "" || c.Running() { // a run takes the lowest of them
		return
	}
	first, known := c.State.Budgets[l.Name]
	switch {
	case !known:
		if c.State.Budgets == nil {
			c.State.Budgets = map[string]script.NamedBudget{}
		}
		c.State.Budgets[l.Name] = script.NamedBudget{Limits: *l, At: c.FuncSpan()}
	case !first.Limits.Same(l):
		d := c.Problemf(diag.BudgetsDiffer, c.FuncSpan(), "two budgets are named %q, and their bounds differ", l.Name)
		d.Notes = append(d.Notes, diag.Note{Pos: first.At.Pos, Message: "the first is made"})
		d.Help = []string{"make it once and pass it to each: x = budget(\"" + l.Name + "\", ...)"}
	}
}

// GivenBudget returns the bounds of a budget that a call is given. If a budget of money or tokens has no name and is
// given a second time, it notes, once for the budget, that each user may spend all of it.
func GivenBudget(c *table.Call, b *value.Budget) engine.Limits {
	l := b.Limits
	_, tokens := l.Tokens.Value()
	_, usd := l.USD.Value()
	if c.Running() || c.Flawed || l.Name != "" || !usd && !tokens {
		return l
	}
	if !b.First.IsValid() {
		b.First = c.ArgSpan("budget")
	} else if !b.Noted {
		b.Noted = true
		d := &diag.Diagnostic{Code: diag.UnsharedBudget, Severity: diag.Info, Span: c.ArgSpan("budget"), Message: "everything that gets this budget may spend all of it"}
		d.Notef(b.First.Pos, "it is used first")
		d.Helpf("to share one, name it: budget(\"purse\", ...)")
		c.State.Session.Report(d)
	}
	return l
}

func budgetRows() []table.Builtin {
	return []table.Builtin{
		{Name: "remaining", Of: "budget", Group: table.GroupAgents, Returns: agent.RemainingType.Name, Effect: table.Recorded, RunOnly: "left = budget.remaining()", Func: remainingFunc,
			Doc: "Returns, in a running function, what the budgets around it leave: " + script.Joined(agent.RemainingType.FieldNames()) +
				". A quantity without a bound is None. The answer is recorded: a replay returns the same."},
	}
}

var (
	_ starlark.Callable = (*value.Maker)(nil)
	_ starlark.HasAttrs = (*value.Maker)(nil)
)

func remainingFunc(c *table.Call) (starlark.Value, error) {
	if err := c.Env.Thread.Debit(c.Thread().Steps); err != nil { // all of them: they are reported
		return nil, err
	}
	v, err := run.Remaining(c.Env.Branch)
	if err != nil {
		return nil, err
	}
	return value.FromData(v), nil
}
