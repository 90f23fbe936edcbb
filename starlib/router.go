package starlib

import (
	"fmt"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/startree"
)

func routerRows() []Builtin {
	opt := func(name string, kind Kind, def, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: def, Doc: doc}
	}
	return []Builtin{
		{Name: "router", Group: GroupAgents, Aside: "model threshold otherwise prompt repairs", Returns: "router", Effect: Compose, Func: routerFunc, May: true,
			Params: []Param{
				opt("model", modelsKind, "None", "the model that is asked: \"provider/model\", a list of them or model(...); the agent's own when not given"),
				opt("threshold", rangeKind(1), "0.6", "how sure the model must be, from 0 to 1"),
				opt("otherwise", StrKind, "None", "the skill for when it is less sure or comes to no choice; left out, that is an error"),
				opt("prompt", StrKind, "None", "what else the model is told about choosing"),
				opt("repairs", countKind, "1", "how often it is asked again for a choice that can be read"),
			},
			Doc: "Has a model choose among the skills of an agent, by their descriptions: agent(skills = [...], select = router()). It is asked only when several skills take an input."},
	}
}

// routerValue is what router gives.
type routerValue struct {
	part
	sel engine.Selection
}

func (v *routerValue) String() string { return "router(...)" }
func (v *routerValue) Type() string   { return "router" }

// selectKind takes what chooses among skills.
var selectKind = Kind{Word: "function or router(...)", Stub: "Callable | Router",
	accept: func(v starlark.Value) (starlark.Value, bool) {
		switch b := v.(type) {
		case *routerValue:
			return v, true
		case *starlark.Builtin:
			if b.Name() == "router" {
				return v, false
			}
		}
		return acceptFunction(v)
	},
	hint: func(v starlark.Value) string {
		switch v := v.(type) {
		case starlark.String:
			return fmt.Sprintf("a model chooses with select = router(), code with select = lambda x: %s", v.String())
		case *modelValue:
			return "write select = router(model = ...)"
		case *starlark.Builtin:
			return "call it: " + v.Name() + "()"
		}
		return hintFunction(v)
	}}

func routerFunc(c *Call) (starlark.Value, error) {
	ask := &engine.AgentSpec{Prompt: dedent(c.Str("prompt")), Repairs: c.Int("repairs", 1), ModelSpan: c.spanOf("model")}
	c.modelNamed().into(ask)
	sel := engine.Selection{Ask: ask, Threshold: engine.DefaultThreshold, Otherwise: engine.Literal{Text: c.Str("otherwise"), Span: c.spanOf("otherwise")}, Span: c.fnSpan()}
	if t := c.Float("threshold"); t != nil {
		sel.Threshold = *t
	}
	if c.stood {
		return c.standIn(), nil
	}
	return &routerValue{sel: sel}, nil
}

// selection reads what chooses among the skills of an agent, nil when nothing does.
func (c *Call) selection() *engine.Selection {
	switch v := c.Arg("select").(type) {
	case nil, *failedValue:
		return nil
	case *routerValue:
		sel := v.sel
		return &sel
	default:
		sel := &engine.Selection{By: c.state.funcOf(v), Span: c.spanOf("select")}
		sel.Names, sel.All = c.state.textsGiven(v)
		return sel
	}
}

// textsGiven lists the texts that a function of the script spells out as its result, and tells
// whether it gives nothing else.
func (c *state) textsGiven(v starlark.Value) (texts []engine.Literal, all bool) {
	fn, ok := v.(*starlark.Function)
	if !ok {
		return nil, false
	}
	u := c.shown[fn.Position().Filename()]
	if u == nil || u.file == nil {
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
			at := diag.Span{Pos: position(x.TokenPos), Len: utf8.RuneCountInString(x.Raw)}
			texts = append(texts, engine.Literal{Text: text, Span: at})
		default:
			all = false
		}
	}
	switch body := u.function(fn.Position()).(type) {
	case *syntax.LambdaExpr:
		leaf(body.Body)
	case *syntax.DefStmt:
		eachReturn(body.Body, leaf)
	default:
		return nil, false
	}
	return texts, all
}

// eachReturn finds what a block returns, without the functions in it.
func eachReturn(block []syntax.Stmt, f func(syntax.Expr)) {
	for _, s := range block {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt, *syntax.LambdaExpr:
				return false
			case *syntax.ReturnStmt:
				if n.Result != nil {
					f(n.Result)
				}
			}
			return true
		})
	}
}
