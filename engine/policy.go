package engine

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Policy says which calls of tools a model may have made. It is enforced outside the model: a
// call that it denies is not made, whatever a prompt or a tool's text says.
//
// Where several policies hold, the host's, the command's and the script's, the strictest one
// decides: nobody can give more than another takes. A Policy is immutable.
type Policy struct {
	from             string
	allow, ask, deny []*rule
	span             diag.Span // where a script makes it
}

// Rules are the patterns of a [Policy]. Deny goes before Ask, and Ask before Allow, in whatever
// order they stand. Where Allow has patterns, what no pattern names is denied; without any, what
// neither Ask nor Deny names is allowed.
//
// A pattern is the name of a tool, "send_mail", with a * for any text, "fs_*"; or "@read",
// "@idempotent" or "@once" for all tools of that effect. It may ask something of arguments:
// "send_mail(to=*@example.com)", "pay(amount>100, to.country!=NL)". See docs/policy.md.
type Rules struct {
	Allow, Ask, Deny []string
}

// NewPolicy makes a policy of patterns. from says whose they are, as in "the host"; it stands in
// events and errors. A pattern that cannot be read is an error that shows where.
func NewPolicy(from string, r Rules) (*Policy, error) {
	p := &Policy{from: from}
	for _, part := range []struct {
		patterns []string
		to       *[]*rule
	}{{r.Allow, &p.allow}, {r.Ask, &p.ask}, {r.Deny, &p.deny}} {
		for _, text := range part.patterns {
			rule, err := parseRule(text)
			if err != nil {
				return nil, err
			}
			*part.to = append(*part.to, rule)
		}
	}
	return p, nil
}

// WithSpan says where a script makes the policy.
func (p *Policy) WithSpan(at diag.Span) *Policy {
	own := *p
	own.span = at
	return &own
}

// Place says where a script writes the patterns of a new policy: those of allow, then of ask, then of deny.
func (p *Policy) Place(at []diag.Span) {
	for i, r := range slices.Concat(p.allow, p.ask, p.deny) {
		r.at = at[i]
	}
}

// Ruling is what a policy says about a call.
type Ruling uint8

// The rulings, from the least strict.
const (
	Allowed Ruling = iota
	Asked          // a person decides
	Denied
)

func (r Ruling) String() string { return [...]string{"allow", "ask", "deny"}[r] }

// Ruling tells what the policy says about a call of a tool with arguments, a record of its
// parameters, and which rule says so.
func (p *Policy) Ruling(t *Tool, args generable.Value) (Ruling, string) {
	d := p.of(t, args)
	return d.ruling, d.why()
}

// decision is a ruling and its reason.
type decision struct {
	ruling Ruling
	rule   *rule // nil when no rule allows the call
	from   string
}

// of gives the ruling about one call.
func (p *Policy) of(t *Tool, args generable.Value) decision {
	matches := func(strict bool) func(*rule) bool {
		return func(r *rule) bool { return r.matches(t, args, strict) }
	}
	// What forbids is read generously, what allows strictly: see forms.
	if i := slices.IndexFunc(p.deny, matches(false)); i >= 0 {
		return decision{Denied, p.deny[i], p.from}
	}
	if i := slices.IndexFunc(p.ask, matches(false)); i >= 0 {
		return decision{Asked, p.ask[i], p.from}
	}
	if len(p.allow) > 0 && !slices.ContainsFunc(p.allow, matches(true)) {
		return decision{Denied, nil, p.from}
	}
	return decision{}
}

// rules about a call: the strictest of all policies.
func (b *branch) rules(sk *skillPlan, t *Tool, args generable.Value) (most decision) {
	if t.knows { // part of the prompt in truth
		return most
	}
	stricter := func(p *Policy) {
		if p != nil {
			if d := p.of(t, args); d.ruling > most.ruling {
				most = d
			}
		}
	}
	for _, p := range b.run.spec.Policies {
		stricter(p)
	}
	stricter(sk.agent.Policy)
	stricter(sk.Policy)
	return most
}

// ruled reports whether any policy holds for a skill's calls.
func (b *branch) ruled(sk *skillPlan) bool {
	return sk.Policy != nil || sk.agent.Policy != nil || len(b.run.spec.Policies) > 0
}

// why says which rule decided.
func (d decision) why() string {
	switch {
	case d.ruling == Allowed:
		return ""
	case d.rule == nil:
		return "no allow rule of " + d.from + " names it"
	}
	return fmt.Sprintf("the rule %s %s of %s", d.ruling, d.rule.text, d.from)
}

// forbidden is what a denied call comes to. What the model reads names the tool that it asked
// for and nothing else; people are told the rule.
func (d decision) forbidden(tool string) *Error {
	return Errorf(KindPolicy, diag.Denied, "the call of %q with these arguments is not allowed; do not repeat it: go on without, or say what you need", tool).
		WithHelp("%s denies it", d.why())
}

// Unknown is a pattern that names no tool among some, or can tell no two calls of its tool apart.
type Unknown struct {
	Pattern string
	Name    string // the name in it
	Arg     string // the argument that its tool does not have, "" when there is no such tool
	Is      string // what the argument is, when its tool has it and it cannot be what the rule asks
	Near    string // what was probably meant, or ""

	at diag.Span
}

// Unknown gives the patterns that name none of the tools, an argument that the tool named by
// them does not have, or a value that the argument cannot have: a typing mistake in a rule goes unnoticed otherwise. A name with a * may
// name nothing.
func (p *Policy) Unknown(tools []*Tool) []Unknown {
	var found []Unknown
	for _, r := range slices.Concat(p.deny, p.ask, p.allow) {
		if u, ok := r.unknown(tools); ok {
			found = append(found, u)
		}
	}
	return found
}
