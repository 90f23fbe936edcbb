package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// checkPolicies reports rules of a script that would never hold.
func (s *Session) checkPolicies(site Site, a *AgentSpec) bool {
	all := a.Tools[:len(a.Tools):len(a.Tools)]
	ok, served := true, len(a.Servers) > 0
	for _, sk := range a.Skills {
		ok = s.checkToolRules(site, append(a.Tools[:len(a.Tools):len(a.Tools)], sk.Tools...)) && ok
		all = append(all, sk.Tools...)
		if sk.Policy != nil {
			ok = s.checkPolicy(site, sk.Policy, "skill "+quoted(sk.Name), append(a.Tools[:len(a.Tools):len(a.Tools)], sk.Tools...), len(a.Servers)+len(sk.Servers) > 0) && ok
		}
		served = served || len(sk.Servers) > 0
	}
	if a.Policy != nil {
		ok = s.checkPolicy(site, a.Policy, "agent "+quoted(a.Name), all, served) && ok
	}
	return ok
}

func (s *Session) checkPolicy(site Site, p *Policy, who string, tools []*Tool, served bool) bool {
	found := p.Unknown(tools)
	if served { // a server's tools are known when it is asked
		found = slices.DeleteFunc(found, func(u Unknown) bool { return u.Arg == "" })
	}
	for _, u := range found {
		d := s.Errorf(diag.UnknownRule, spanOr(u.at, spanOr(p.span, site.Span)), "%s", u.Message(who))
		d.Helpf("%s", u.Help(tools))
	}
	return len(found) == 0
}

// Message says what is wrong with the pattern; who is what has the tools.
func (u Unknown) Message(who string) string {
	if u.Is != "" {
		return fmt.Sprintf("the rule %q compares %q, and the tool %q takes %s there", u.Pattern, u.Arg, u.Name, u.Is)
	}
	if u.Arg != "" {
		return fmt.Sprintf("the rule %q asks for %q, which the tool %q does not have", u.Pattern, u.Arg, u.Name)
	}
	return fmt.Sprintf("the rule %q is about a tool that %s does not have", u.Pattern, who)
}

// Help says what was probably meant.
func (u Unknown) Help(tools []*Tool) string {
	if u.Near != "" {
		return "did you mean " + quoted(u.Near) + "?"
	}
	if u.Is != "" {
		return "compare it with what it may be: numbers with <, <=, > and >=, texts with = and !="
	}
	if u.Arg != "" {
		return "name one of its parameters"
	}
	names := make([]string, 0, len(tools))
	for _, t := range tools {
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		return "there are no tools"
	}
	return "the tools are " + strings.Join(names[:min(len(names), 30)], ", ")
}
