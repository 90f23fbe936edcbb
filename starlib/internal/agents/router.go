package agents

import (
	"fmt"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

func routerRows() []table.Builtin {
	return []table.Builtin{
		{Name: "router", Group: table.GroupAgents, Aside: "model threshold otherwise prompt repairs", Returns: "router", Effect: table.Compose, Func: routerFunc, May: true,
			Params: []table.Param{
				table.Opt("model", modelsKind, "None", "the model to ask: \"provider/model\", a list of them or model(...); by default the agent's own"),
				table.Opt("threshold", table.RangeKind(1), "0.6", "how sure the model must be, from 0 to 1"),
				table.Opt("otherwise", table.Naming(table.StrKind, table.SkillName), "None", "the skill to take if the model is less sure or makes no choice; without it, that is an error"),
				table.Opt("prompt", table.StrKind, "None", "further instructions for the model about choosing"),
				table.Opt("repairs", table.CountKind, "1", "how often the model is asked again for a choice that can be read"),
			},
			Doc: "Lets a model choose among the skills of an agent by their descriptions: agent(skills = [...], select = router()). The model is asked only if several skills take an input."},
	}
}

// routerValue is the result of router.
type routerValue = value.Opaque[agent.Selection]

// selectKind takes what chooses among skills.
var selectKind = &table.Kind{Word: "function or router(...)", Stub: "Callable | Router",
	Accept: func(v starlark.Value) (starlark.Value, bool) {
		switch b := v.(type) {
		case *routerValue:
			return v, true
		case *starlark.Builtin:
			if b.Name() == "router" {
				return v, false
			}
		}
		return value.AcceptFunction(v)
	},
	Hint: func(v starlark.Value) string {
		switch v := v.(type) {
		case starlark.String:
			return fmt.Sprintf("a model chooses with select = router(), code with select = lambda x: %s", v.String())
		case *modelValue:
			return "write select = router(model = ...)"
		case *starlark.Builtin:
			return "call it: " + v.Name() + "()"
		}
		return table.HintFunction(v)
	}}

func routerFunc(c *table.Call) (starlark.Value, error) {
	ask := &agent.Spec{Prompt: script.Dedent(c.Str("prompt")), Repairs: c.Int("repairs", 1), ModelSpan: c.ArgSpan("model")}
	modelNamed(c).into(ask)
	sel := agent.Selection{Ask: ask, Threshold: agent.DefaultThreshold, Otherwise: agent.Literal{Text: c.Str("otherwise"), Span: c.ArgSpan("otherwise")}, Span: c.FuncSpan()}
	if t := c.Float("threshold"); t != nil {
		sel.Threshold = *t
	}
	return c.Made(&routerValue{Kind: "router", Text: "router(...)", Of: sel})
}

// selection reads what chooses among the skills of an agent. It returns nil if nothing does.
func selection(c *table.Call) *agent.Selection {
	switch v := c.Arg("select").(type) {
	case nil, *value.Failed:
		return nil
	case *routerValue:
		sel := v.Of
		return &sel
	default:
		sel := &agent.Selection{By: thread.FuncOf(c.State, v), Span: c.ArgSpan("select")}
		sel.Names, sel.All = textsGiven(c.State, v)
		return sel
	}
}

// textsGiven lists the literal texts that a function of the script can return, and reports whether it returns nothing
// else.
func textsGiven(c *script.State, v starlark.Value) (texts []agent.Literal, all bool) {
	fn, ok := v.(*starlark.Function)
	if !ok {
		return nil, false
	}
	u := c.ByName[fn.Position().Filename()]
	if u == nil || u.File == nil {
		return nil, false
	}
	all = true
	var leaf func(e syntax.Expr)
	leaf = func(e syntax.Expr) {
		switch x := startree.Unparen(e).(type) {
		case *syntax.CondExpr:
			leaf(x.True)
			leaf(x.False)
		case *syntax.Literal:
			text, ok := x.Value.(string)
			if !ok {
				all = false
				return
			}
			at := diag.Span{Pos: script.Position(x.TokenPos), Len: utf8.RuneCountInString(x.Raw)}
			texts = append(texts, agent.Literal{Text: text, Span: at})
		default:
			all = false
		}
	}
	switch body := u.Function(fn.Position()).(type) {
	case *syntax.LambdaExpr:
		leaf(body.Body)
	case *syntax.DefStmt:
		startree.Returns(body.Body, func(r *syntax.ReturnStmt) {
			if r.Result != nil {
				leaf(r.Result)
			}
		})
	default:
		return nil, false
	}
	return texts, all
}
