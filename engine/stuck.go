package engine

import (
	"fmt"
	"github.com/agentscript/agentscript/internal/text"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
)

// stuck is what a model keeps doing wrong with its tools. It is told each time; when a budget
// ends because of that, the error says so.
type stuck struct {
	tool  string
	on    *Error // nil when the last calls succeeded
	turns int    // one after the other in which the same call failed
}

// turn takes in the calls of one turn: the first that failed, if any.
func (s *stuck) turn(made []calling) {
	for i := range made {
		name, f := made[i].Name, made[i].failure
		if f == nil {
			continue
		}
		if s.on == nil || s.tool != name || s.on.Code != f.Code {
			s.turns = 0
		}
		s.tool, s.on, s.turns = name, f, s.turns+1
		return
	}
	*s = stuck{}
}

// tell adds to a spent budget what it was spent on.
func (s *stuck) tell(err error) error {
	e, ok := err.(*Error)
	if !ok || s.on == nil || e.Kind != KindBudget {
		return err
	}
	own := *e
	name := text.Clip(s.tool, maxToolName)
	if s.on.Code == diag.UnknownTool {
		own.Message += fmt.Sprintf("; the model asked for the tool %q, which does not exist, %s", name, times(s.turns))
	} else {
		own.Message += fmt.Sprintf("; the tool %q failed %s in a row: %s", name, times(s.turns), s.on.Message)
	}
	switch {
	case s.on.Code == diag.UnknownTool:
		own.Help = s.on.Help
	case s.on.Help != "":
		own.Help += "; " + s.on.Help
	}
	if own.Cause == nil {
		own.Cause = s.on
	}
	return &own
}

// badToolName says what is wrong with a tool's name for the providers of models, "" when nothing is.
func badToolName(name string) string {
	switch i := strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.", r)
	}); {
	case name == "":
		return "it is empty"
	case i >= 0:
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Sprintf("it holds %q", r)
	case len(name) > maxToolName:
		return fmt.Sprintf("it is longer than %d characters", maxToolName)
	}
	return ""
}

// unknownTool is the failure of a call of a tool that the skill does not have.
func (p *skillPlan) unknownTool(name string) *Error {
	names := make([]string, len(p.tools))
	for i, t := range p.tools {
		names[i] = t.Name
	}
	name = text.Clip(name, maxToolName)
	if len(names) == 0 {
		return Errorf(KindTool, diag.UnknownTool, "there is no tool %q; there are no tools", name).
			WithHelp("give the agent tools = [...], or say in the prompt that there are none")
	}
	e := Errorf(KindTool, diag.UnknownTool, "there is no tool %q; the tools are: %s", name, strings.Join(names, ", "))
	if hint := diag.DidYouMean(name, names); hint != "" {
		return e.WithHelp("the tools are %s; %s: say its name in the prompt, or rename it", strings.Join(names, ", "), strings.TrimSuffix(hint, "?"))
	}
	return e.WithHelp("the tools are %s: say in the prompt which to use, or give it the one that it asks for", strings.Join(names, ", "))
}
