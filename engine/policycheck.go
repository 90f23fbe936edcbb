package engine

import (
	"fmt"
	"strconv"
	"strings"
)

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
func (u Unknown) Help(tools []PolicyCall) string {
	if u.Near != "" {
		return "did you mean " + strconv.Quote(u.Near) + "?"
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
