package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Acting is an [engine.Func] or a [Judge] that knows the strongest effect class of what it may do. A function that
// does not implement it only reads.
type Acting interface{ Acts() engine.Class }

// Acts returns the class by which rules know a tool: the declared one, but no less than what its function and the
// fixers of its calls may do. Rules apply separately to what an agent inside calls, which is not included.
func (t *Tool) Acts() engine.Class {
	if t.Run == nil && t.Node == nil {
		if t.Class == "" {
			return engine.ClassOnce
		}
		return t.Class
	}
	class := engine.ClassRead.Stronger(t.Class).Stronger(callback.EffectClass(t.Run))
	if t.Node != nil {
		class = class.Stronger(t.Node.Acts())
	}
	for m := range t.OnError.remedies {
		if class = class.Stronger(callback.EffectClass(m.Judge)); m.Fixer != nil {
			class = class.Stronger(m.Fixer.Acts())
		}
	}
	return class
}

// Call returns the tool as rules see it, without the class, which [Tool.Acts] returns.
func (t *Tool) Call() policy.Call {
	c := policy.Call{Name: t.Name, Remote: t.Remote, Params: t.Parameters()}
	if t.Server != nil {
		c.Server = t.Server.Name
	}
	return c
}

// checkPolicies reports rules of a script that can never apply.
func (c *checker) checkPolicies(a *Spec) bool {
	ok, servers := true, a.Servers
	for _, sk := range a.Skills {
		tools := slices.Concat(a.Tools, sk.Tools)
		ok = c.checkToolRules(tools) && ok
		if sk.Policy != nil {
			ok = c.checkPolicy(sk.Policy, "skill "+strconv.Quote(sk.Name), tools, slices.Concat(a.Servers, sk.Servers)) && ok
		}
		servers = slices.Concat(servers, sk.Servers)
	}
	if a.Policy != nil {
		ok = c.checkPolicy(a.Policy, "agent "+strconv.Quote(a.Name), a.AllTools(), servers) && ok
	}
	return ok
}

func (c *checker) checkPolicy(p *policy.Policy, who string, tools []*Tool, servers []*remote.Server) bool {
	calls := make([]policy.Call, len(tools))
	for i, t := range tools {
		calls[i] = t.Call()
	}
	names := text.Each(servers, func(s *remote.Server) string { return s.Name })
	found := 0
	for u := range p.Unknown(calls) {
		if u.Served(names) {
			continue
		}
		if d := c.Errorf(diag.UnknownRule, u.At.Or(c.at), "%s", u.Message(who)); !c.Full(d) {
			d.Helpf("%s", u.Help(calls))
		}
		if found++; found > diag.MostAlike {
			break // no more are shown, and many agents may have the policy
		}
	}
	return found == 0
}

// Parameters returns the schema of the tool's parameters, an empty one if it declares none.
func (t *Tool) Parameters() *generable.Type {
	if t.Params == nil {
		return &generable.Type{Kind: generable.RecordType, Name: t.Name}
	}
	return t.Params
}

// Flow is a composition that an agent calls: as a tool, or to recover a failed call. Package flow creates them.
type Flow interface {
	Label() string        // for people
	Out() *generable.Type // of its result
	Acting
}

// Tool is a function that a model can call.
type Tool struct {
	Name, Doc string
	Params    *generable.Type // a schema; its fields are the parameters
	Returns   *generable.Type // nil: any
	Class     engine.Class
	Run       engine.Func    // runs inline, and again in a replay; nil without a Node: an effect handled under Name
	Version   string         // of a handled tool
	Server    *remote.Server // the server that runs it; nil if none does
	Remote    string         // its name on the server
	Schema    string         // of its parameters, verbatim, if Params cannot express all of it
	Span      diag.Span
	Untrusted bool       // its results are text from outside: marked as such, and put into an envelope
	Rules     *ToolRules // when it may be called; nil: always

	OnUnknown engine.OnUnknown // what to do when it is unknown whether a call was carried out
	Reconcile Judge            // called in that case, before all else; nil: nobody is
	OnError   *Recovery        // what happens to failed calls before the model learns of them
	Timeout   time.Duration    // of one execution; 0: no limit
	MaxResult int              // bytes of a result's text that a model sees; default [DefaultMaxResult]
	Node      Flow             // runs inline instead of Run, see [flow.AsTool]
}

// Handled returns the name under which handlers and policies know the tool: server.tool for a tool of a server.
func (t *Tool) Handled() string {
	if t.Server != nil {
		return t.Server.Name + "." + t.Remote
	}
	return t.Name
}

// badToolName returns what is wrong with a tool's name for the providers of models, or "" if nothing is.
func badToolName(name string) string {
	switch i := strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.", r)
	}); {
	case name == "":
		return "it is empty"
	case i >= 0:
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Sprintf("it holds %q", r)
	case len(name) > MaxToolName:
		return fmt.Sprintf("it is longer than %d characters", MaxToolName)
	}
	return ""
}

// Defaults for tools, unless they or their agents say otherwise.
const (
	DefaultToolsAtOnce = 8          // calls of one answer that run concurrently
	DefaultMaxResult   = 256 * 1024 // bytes of a result's text that a model sees
)

// MaxToolName is the maximum length of a tool's name. It also limits the part of a position that a model makes up:
// the name of a tool that does not exist.
const MaxToolName = 64

// ToolRules limit when a tool may be called in one call of its agent. A call that breaks them is not made: the model
// is told why.
type ToolRules struct {
	Max           int       // calls; 0: no limit
	OnlyAfter     []string  // tools that must each have succeeded in an earlier answer
	OnlyAfterSpan diag.Span // where a script sets OnlyAfter
	Forbidden     string    // why it may not be called at all; "" if it may
}

// checkToolRules reports rules that name an unknown tool.
func (c *checker) checkToolRules(tools []*Tool) bool {
	ok := true
	names := text.Each(tools, func(t *Tool) string { return t.Name })
	has := make(map[string]bool, len(names))
	for _, name := range names {
		has[name] = true
	}
	for _, t := range tools {
		if t.Rules == nil {
			continue
		}
		for _, after := range t.Rules.OnlyAfter {
			if has[after] && after != t.Name {
				continue
			}
			ok = false
			d := c.Errorf(diag.UnknownRule, t.Rules.OnlyAfterSpan.Or(t.Span.Or(c.at)), "the tool %q may be called only after %q, which is no other tool of its skill", t.Name, after)
			if c.Full(d) {
				continue
			}
			others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == t.Name })
			if near := diag.DidYouMean(after, others); near != "" {
				d.Helpf("%s", near)
			} else if len(others) > 0 {
				d.Helpf("the other tools are %s", strings.Join(others, ", "))
			} else {
				d.Helpf("it is the only tool: list the one that goes before it as well, or leave only_after out")
			}
		}
	}
	return ok
}
