package agents

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func policyRows() []table.Builtin {
	patterns := func(name, doc string) table.Param { return table.Opt(name, table.ListOf(patternKind), "[]", doc) }
	return []table.Builtin{
		{Name: "policy", Group: table.GroupAgents, Aside: "allow ask deny", Returns: "policy", Effect: table.Compose, Func: policyFunc, May: true,
			Params: []table.Param{
				patterns("allow", "what may be called; if it is set, calls that no pattern matches are denied"),
				patterns("ask", "what a person is asked about first"),
				patterns("deny", "what may not be called"),
			},
			Doc: "Declares which tool calls a model may make: patterns such as \"send_mail\", \"fs_*\", \"@once\" (all tools of that effect) and \"pay(amount>100, to=*@example.com)\". " +
				"deny takes precedence over ask, and ask over allow. The host and the command line have their own rules: the strictest decides."},
	}
}

type policyValue = value.Opaque[*policy.Policy]

// patternKind takes patterns of calls.
var patternKind = table.Vetted(table.Hinted(table.StrKind, func(v starlark.Value) string {
	switch v := v.(type) {
	case *value.Tool:
		return fmt.Sprintf("a rule names a tool: %q", v.Tool.Name)
	case *starlark.Function:
		return fmt.Sprintf("a rule names a tool: %q", v.Name())
	}
	return ""
}), func(_ *table.Param, v starlark.Value) []table.Fault {
	e := badPattern(v)
	if e == nil {
		return nil
	}
	return []table.Fault{{Code: e.Code, Text: e.Message, Full: true, Help: []string{e.Help}}}
})

// badPattern returns why a pattern cannot be parsed, or nil.
func badPattern(v starlark.Value) *engine.Error {
	s, _ := v.(starlark.String)
	var e *engine.Error
	_, err := policy.New("", policy.Rules{Deny: []string{string(s)}})
	errors.As(err, &e)
	return e
}

var policyKind = &table.Kind{Word: "policy(...)", Stub: "Policy", Accept: value.As[*policyValue], Hint: table.CallHint("policy", "deny", "ask", "allow")}

// policyArg returns the policy argument, or nil if it was not given.
func policyArg(c *table.Call) *policy.Policy {
	if v, ok := c.Arg("policy").(*policyValue); ok {
		return v.Of.WithSpan(c.ArgSpan("policy"))
	}
	return nil
}

func policyFunc(c *table.Call) (starlark.Value, error) {
	var rules policy.Rules
	var at []diag.Span
	for _, part := range []struct {
		name string
		to   *[]string
	}{{"allow", &rules.Allow}, {"ask", &rules.Ask}, {"deny", &rules.Deny}} {
		for i, item := range c.List(part.name) {
			s, ok := item.(starlark.String)
			if !ok {
				return c.Placeholder(), nil
			}
			if c.Flawed && badPattern(item) != nil { // the other patterns are checked
				continue
			}
			*part.to = append(*part.to, string(s))
			at = append(at, c.PartSpan(c.Refs[c.ParamIndex(part.name)], table.Piece{N: i + 1}))
		}
	}
	p, err := policy.New("the script", rules)
	if err != nil {
		return nil, err
	}
	p.Place(at)
	return &policyValue{Kind: "policy", Text: "policy(...)", Of: p}, nil
}
