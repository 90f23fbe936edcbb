package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// mismatch describes an argument whose type makes the condition constant: it never holds or always holds. It returns ""
// if the condition can decide something.
func (c *condition) mismatch(t *generable.Type) (is string) {
	t = t.Deref()
	for t.Kind == generable.ListType && t.Elem != nil { // its items are compared
		t = t.Elem.Deref()
	}
	if t.Kind == generable.OneOfType {
		for _, v := range t.Variants {
			if v.Deref().Kind == generable.NoneType {
				continue
			}
			wrong := c.mismatch(v)
			if is != "" || wrong == "" { // a value of that type fits, or there are several types
				return ""
			}
			is = wrong
		}
		return is
	}
	if c.op != "=" && c.op != "!=" {
		switch t.Kind {
		case generable.BoolType, generable.StrType, generable.EnumType, generable.RecordType, generable.DictType:
			return t.String()
		}
		return ""
	}
	if len(c.want.pieces) != 1 { // a glob with stars
		return ""
	}
	fits := true
	switch text := c.want.text; t.Kind {
	case generable.IntType:
		_, err := strconv.ParseInt(text, 10, 64)
		fits = err == nil
	case generable.FloatType:
		_, err := strconv.ParseFloat(text, 64)
		fits = err == nil
	case generable.BoolType:
		fits = strings.EqualFold(text, "true") || strings.EqualFold(text, "false")
	case generable.EnumType:
		fits = slices.ContainsFunc(t.Values, func(v string) bool { return c.want.reads(v, false) })
	}
	switch {
	case fits:
		return ""
	case t.Kind == generable.EnumType:
		return "one of " + strings.Join(t.Values, ", ")
	}
	return t.String()
}

// Message returns what is wrong with the pattern; who names the owner of the tools.
func (u Unknown) Message(who string) string {
	if u.Is != "" {
		return fmt.Sprintf("the rule %q compares %q, and the tool %q takes %s there", u.Pattern, u.Arg, u.Name, u.Is)
	}
	if u.Arg != "" {
		return fmt.Sprintf("the rule %q asks for %q, which the tool %q does not have", u.Pattern, u.Arg, u.Name)
	}
	return fmt.Sprintf("the rule %q is about a tool that %s does not have", u.Pattern, who)
}

// Help suggests what was probably meant.
func (u Unknown) Help(tools []Call) string {
	if u.Near != "" {
		return "did you mean " + strconv.Quote(u.Near) + "?"
	}
	if u.Is != "" {
		return "compare it with what it may be: numbers with <, <=, > and >=, texts with = and !="
	}
	if u.Arg != "" {
		return "name one of its parameters"
	}
	names := text.Each(tools, func(t Call) string { return t.Name })
	if len(names) == 0 {
		return "there are no tools"
	}
	return "the tools are " + strings.Join(names[:min(len(names), 30)], ", ")
}
