package starlib

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

func policyRows() []Builtin {
	patterns := func(name, doc string) Param {
		return Param{Name: name, Kind: listOf(patternKind), Shape: KeywordOnly, Default: "[]", Doc: doc}
	}
	return []Builtin{
		{Name: "policy", Group: GroupAgents, Aside: "allow ask deny", Returns: "policy", Effect: Compose, Func: policyFunc, May: true,
			Params: []Param{
				patterns("allow", "what may be called; with it, what no pattern names may not"),
				patterns("ask", "what a person is asked about first"),
				patterns("deny", "what may not be called"),
			},
			Doc: "Says which calls of tools a model may have made: patterns such as \"send_mail\", \"fs_*\", \"@once\" (all tools of that effect) and \"pay(amount>100, to=*@example.com)\". " +
				"deny goes before ask, and ask before allow. The host and the command line have rules of their own: the strictest decides."},
	}
}

type policyValue struct {
	part
	p *engine.Policy
}

func (v *policyValue) String() string { return "policy(...)" }
func (v *policyValue) Type() string   { return "policy" }

// patternKind takes patterns of calls.
var patternKind = vetted(hinted(StrKind, func(v starlark.Value) string {
	switch v := v.(type) {
	case *toolValue:
		return fmt.Sprintf("a rule names a tool: %q", v.t.Name)
	case *starlark.Function:
		return fmt.Sprintf("a rule names a tool: %q", v.Name())
	}
	return ""
}), func(_ *Param, v starlark.Value) []fault {
	e := badPattern(v)
	if e == nil {
		return nil
	}
	return []fault{{code: e.Code, text: e.Message, full: true, help: []string{e.Help}}}
})

// badPattern is why a pattern cannot be read, nil when it can.
func badPattern(v starlark.Value) *engine.Error {
	s, _ := v.(starlark.String)
	var e *engine.Error
	_, err := engine.NewPolicy("", engine.Rules{Deny: []string{string(s)}})
	errors.As(err, &e)
	return e
}

var policyKind = Kind{Word: "policy(...)", Stub: "Policy", accept: as[*policyValue], hint: callHint("policy", "deny", "ask", "allow")}

// policy is the policy argument, nil when it was not given.
func (c *Call) policy() *engine.Policy {
	if v, ok := c.Arg("policy").(*policyValue); ok {
		return v.p.WithSpan(c.spanOf("policy"))
	}
	return nil
}

func policyFunc(c *Call) (starlark.Value, error) {
	var rules engine.Rules
	var at []diag.Span
	for _, part := range []struct {
		name string
		to   *[]string
	}{{"allow", &rules.Allow}, {"ask", &rules.Ask}, {"deny", &rules.Deny}} {
		n := 0
		for item := range c.items(part.name) {
			n++
			s, ok := item.(starlark.String)
			if !ok {
				return c.standIn(), nil
			}
			if c.flawed && badPattern(item) != nil { // the others are looked at
				continue
			}
			*part.to = append(*part.to, string(s))
			at = append(at, c.partSpan(c.at[c.param(part.name)], piece{n: n}))
		}
	}
	p, err := engine.NewPolicy("the script", rules)
	if err != nil {
		return nil, err
	}
	p.Place(at)
	return &policyValue{p: p}, nil
}
