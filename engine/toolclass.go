package engine

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/diag"
)

// Acting is a [Func] or a [Judge] that says what the most is that it may do by itself. One that does
// not say reads.
type Acting interface{ Acts() Class }

// rank orders classes by how much they are; "" is the least.
func (c Class) rank() uint8 {
	switch c {
	case ClassRead:
		return 1
	case ClassIdempotent:
		return 2
	case ClassOnce:
		return 3
	}
	return 0
}

// Stronger is the class of what may do either.
func (c Class) Stronger(than Class) Class {
	if than.rank() > c.rank() {
		return than
	}
	return c
}

// Acts is the class that rules know a tool by: what is said of it, and no less than what its function
// and those that mend its calls may do. What an agent inside calls is ruled there, and no part of it.
func (t *Tool) Acts() Class {
	if t.Run == nil && t.Node == nil {
		if t.Class == "" {
			return ClassOnce
		}
		return t.Class
	}
	class := ClassRead.Stronger(t.Class).Stronger(acts(t.Run))
	if t.Node != nil {
		class = class.Stronger(t.Node.Acts())
	}
	if r := t.OnError; r != nil {
		for _, list := range [][]Remedy{r.BadArgs, r.Failure} {
			for i := range list {
				if class = class.Stronger(acts(list[i].Judge)); list[i].Fixer != nil {
					class = class.Stronger(list[i].Fixer.Acts())
				}
			}
		}
	}
	return class
}

// acts is the most that a callback does.
func acts(f any) Class {
	if a, ok := f.(Acting); ok {
		return a.Acts()
	}
	return ""
}

// Call is the tool as rules see it. Its class is found when the tool is asked for it: see [Tool.Acts].
func (t *Tool) Call() PolicyCall {
	c := PolicyCall{Name: t.Name, Remote: t.Remote, Params: t.params()}
	if t.Server != nil {
		c.Server = t.Server.Name
	}
	return c
}

func callsOf(tools []*Tool) []PolicyCall {
	calls := make([]PolicyCall, len(tools))
	for i, t := range tools {
		calls[i] = t.Call()
	}
	return calls
}

// checkPolicies reports rules of a script that would never hold.
func (c *checker) checkPolicies(a *AgentSpec) bool {
	all := a.Tools[:len(a.Tools):len(a.Tools)]
	ok, served := true, len(a.Servers) > 0
	for _, sk := range a.Skills {
		ok = c.checkToolRules(append(a.Tools[:len(a.Tools):len(a.Tools)], sk.Tools...)) && ok
		all = append(all, sk.Tools...)
		if sk.Policy != nil {
			ok = c.checkPolicy(sk.Policy, "skill "+strconv.Quote(sk.Name), append(a.Tools[:len(a.Tools):len(a.Tools)], sk.Tools...), len(a.Servers)+len(sk.Servers) > 0) && ok
		}
		served = served || len(sk.Servers) > 0
	}
	if a.Policy != nil {
		ok = c.checkPolicy(a.Policy, "agent "+strconv.Quote(a.Name), all, served) && ok
	}
	return ok
}

func (c *checker) checkPolicy(p *Policy, who string, tools []*Tool, served bool) bool {
	calls := callsOf(tools)
	found := p.Unknown(calls)
	if served { // a server's tools are known when it is asked
		found = slices.DeleteFunc(found, func(u Unknown) bool { return u.Arg == "" })
	}
	for _, u := range found {
		d := c.Errorf(diag.UnknownRule, u.At.Or(c.at), "%s", u.Message(who))
		d.Helpf("%s", u.Help(calls))
	}
	return len(found) == 0
}
