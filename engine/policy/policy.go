// Package policy decides which calls of tools may be made. It works outside the model: a denied call is not made,
// whatever a prompt or the text of a tool says.
//
// A [Policy] consists of [Rules], patterns for tools and their arguments. [Policy.Judge] decides about one [Call];
// [Policy.Unknown] finds patterns that can never match, which are typing mistakes.
package policy

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Policy says which tool calls a model may make. It is enforced outside the model: a call that it denies is not made,
// whatever a prompt or a tool's text says.
//
// If several policies apply, such as the host's, the command's and the script's, the strictest one decides: no policy
// can permit what another denies. A Policy is immutable.
type Policy struct {
	from             string
	allow, ask, deny []*rule
	span             diag.Span // where a script makes it
}

// Denies reports whether the policy can deny a call. A nil policy denies none.
func (p *Policy) Denies() bool { return p != nil && len(p.deny)+len(p.allow) > 0 }

// Rules are the patterns of a [Policy]. Deny takes precedence over Ask, and Ask over Allow, whatever their order in the
// source. If Allow has patterns, a call that no pattern matches is denied; otherwise a call that neither Ask nor Deny
// matches is allowed.
//
// A pattern is the name of a tool, "send_mail", where * matches any text, "fs_*"; or "@read", "@idempotent" or "@once"
// for all tools with that effect class. It may have conditions on arguments: "send_mail(to=*@example.com)",
// "pay(amount>100, to.country!=NL)". See docs/policy.md.
type Rules struct {
	Allow, Ask, Deny []string
}

// New makes a policy from patterns. from names their owner, as in "the host", for events and errors. A pattern that
// cannot be read is an error that shows the position.
func New(from string, r Rules) (*Policy, error) {
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

// WithSpan returns a copy of the policy with the span where a script makes it.
func (p *Policy) WithSpan(at diag.Span) *Policy {
	own := *p
	own.span = at
	return &own
}

// Place sets the spans at which a script writes the patterns of a new policy: allow, then ask, then deny.
func (p *Policy) Place(at []diag.Span) {
	for i, r := range slices.Concat(p.allow, p.ask, p.deny) {
		r.at = at[i]
	}
}

// Ruling is a policy's decision about a call.
type Ruling uint8

// The rulings, from the least to the most strict.
const (
	Allowed Ruling = iota
	Asked          // a person decides
	Denied
)

// String returns the word for the ruling: "allow", "ask" or "deny".
func (r Ruling) String() string { return [...]string{"allow", "ask", "deny"}[r] }

// Call is a call of a tool as rules see it.
type Call struct {
	Name   string          // the name that the model uses
	Server string          // the MCP server that has it, "" if none does
	Remote string          // its name there
	Class  engine.Class    // its effect
	Params *generable.Type // a schema of its parameters
}

// handled returns the tool's name for handlers.
func (c *Call) handled() string {
	if c.Server != "" {
		return c.Server + "." + c.Remote
	}
	return c.Name
}

// Decision is the ruling about a call and its reason.
type Decision struct {
	Ruling Ruling

	rule *rule // nil if no rule allows the call
	from string
}

// Judge returns the ruling about a call with the given arguments, a record of the call's parameters.
func (p *Policy) Judge(c *Call, args generable.Value) Decision {
	matches := func(strict bool) func(*rule) bool {
		return func(r *rule) bool { return r.matches(c, args, strict) }
	}
	// Rules that forbid match any reading, rules that allow only all readings: see forms.
	if i := slices.IndexFunc(p.deny, matches(false)); i >= 0 {
		return Decision{Denied, p.deny[i], p.from}
	}
	if i := slices.IndexFunc(p.ask, matches(false)); i >= 0 {
		return Decision{Asked, p.ask[i], p.from}
	}
	if len(p.allow) > 0 && !slices.ContainsFunc(p.allow, matches(true)) {
		return Decision{Denied, nil, p.from}
	}
	return Decision{}
}

// anyTool stands for any tool of a server: no rule contains it.
const anyTool = "\x00"

// Forbids reports whether the policy denies every call of a tool, whatever its arguments, and by which rule. A Call
// with a Server and no Name stands for all tools of that server, which are unknown until the server lists them.
func (p *Policy) Forbids(c *Call) (Decision, bool) {
	call := *c
	if call.Class == "" {
		call.Class = engine.ClassOnce
	}
	served := call.Name == ""
	if served {
		call.Name, call.Remote = anyTool, anyTool
	}
	speaks := func(strict bool) func(*rule) bool {
		return func(r *rule) bool { return r.class == call.Class || r.class == "" && r.names(&call, strict) }
	}
	deny := speaks(false)
	if i := slices.IndexFunc(p.deny, func(r *rule) bool { return len(r.args) == 0 && deny(r) }); i >= 0 {
		return Decision{Denied, p.deny[i], p.from}, true
	}
	may := func(r *rule) bool { return r.class == "" && served || speaks(true)(r) }
	if len(p.allow) > 0 && !slices.ContainsFunc(p.ask, may) && !slices.ContainsFunc(p.allow, may) {
		return Decision{Denied, nil, p.from}, true
	}
	return Decision{}, false
}

// Why returns which rule decided, "" for a call that is allowed.
func (v Decision) Why() string {
	switch {
	case v.Ruling == Allowed:
		return ""
	case v.rule == nil:
		return "no allow rule of " + v.from + " names it"
	}
	return fmt.Sprintf("the rule %s %s of %s", v.Ruling, v.rule.text, v.from)
}

// Denial returns the error of a denied call. The model only reads the name of the tool; people also read the rule.
func (v Decision) Denial(tool string) *engine.Error {
	why := v.Why() + " denies it"
	if v.rule == nil {
		why = "no allow rule of " + v.from + " fits the call"
	}
	return engine.Errorf(engine.KindPolicy, diag.Denied, "the call of %q with these arguments is not allowed; do not repeat it: go on without, or say what you need", tool).
		WithHelp("%s", why)
}

// ByClass reports whether a rule depends on the effect class, so that [Call].Class matters.
func (p *Policy) ByClass() bool {
	return slices.ContainsFunc(slices.Concat(p.deny, p.ask, p.allow), func(r *rule) bool { return r.class != "" })
}

// Len returns the number of rules.
func (p *Policy) Len() int {
	if p == nil {
		return 0
	}
	return len(p.deny) + len(p.ask) + len(p.allow)
}

// Unknown is a pattern that names none of some tools, or whose condition is the same for all calls of its tool.
type Unknown struct {
	Pattern string
	Name    string    // the name in it
	Arg     string    // the argument that its tool does not have, "" if there is no such tool
	Is      string    // what the argument is, if its tool has it and it cannot be what the rule requires
	Near    string    // what was probably meant, or ""
	Asks    []string  // the arguments that the pattern has conditions on
	At      diag.Span // where a script writes the pattern, or else makes the policy
}

// Served reports whether the pattern may name a tool of one of the MCP servers, whose tools are unknown until they list
// them: a pattern that begins with the name of a server, as in "files.read", or one that resembles none of the known
// tools. A server that was probably meant becomes Near.
func (u *Unknown) Served(servers []string) bool {
	if len(servers) == 0 || u.Arg != "" {
		return false
	}
	server, tool, dotted := strings.Cut(u.Name, ".")
	if !dotted {
		return u.Near == "" || strings.HasPrefix(u.Near, "@")
	}
	if slices.ContainsFunc(servers, func(s string) bool { return strings.HasPrefix(u.Name, s+".") }) {
		return true
	}
	if near, ok := diag.Suggest(server, servers); ok {
		u.Near = near + "." + tool
	}
	return false
}

// Unknown returns the patterns that name none of the tools, an argument that their tool does not have, or a value that
// the argument cannot have. Such typing mistakes would otherwise go unnoticed. A name with a * may match nothing, and
// rules that deny or ask ignore case. Only the Name and the Params of each tool are used.
func (p *Policy) Unknown(tools []Call) iter.Seq[Unknown] {
	return func(yield func(Unknown) bool) {
		for i, r := range slices.Concat(p.deny, p.ask, p.allow) {
			u, ok := r.unknown(tools, i >= len(p.deny)+len(p.ask))
			if u.At = r.at; !u.At.IsValid() {
				u.At = p.span
			}
			if ok && !yield(u) {
				return
			}
		}
	}
}
