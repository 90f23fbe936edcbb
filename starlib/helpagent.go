package starlib

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// helpAgent tells what an agent can do: how it chooses a skill, its tools, and each skill with the tools
// and the knowledge that are the skill's alone.
func helpAgent(out *strings.Builder, a *engine.AgentSpec) {
	if by := chooses(a.Select); by != "" {
		out.WriteString("\n\n" + by)
	}
	if len(a.Tools) > 0 {
		out.WriteString("\n\n" + toolLines(a.Tools))
	}
	for _, sk := range a.Skills {
		out.WriteString("\n\n" + sk.Describe())
		if len(sk.Tools) > 0 {
			out.WriteString("\n\n" + toolLines(sk.Tools))
		}
	}
}

// chooses tells what chooses among skills, "" where their types do.
func chooses(sel *engine.Selection) string {
	switch {
	case sel == nil:
		return ""
	case sel.By != nil:
		name := sel.By.Info().Name
		if name == "lambda" {
			name = "a lambda"
		}
		return "The skill is chosen by " + name + "."
	}
	model := "the agent's model"
	if sel.Ask.Model != "" {
		model = sel.Ask.Model
	}
	text := fmt.Sprintf("The skill is chosen by %s, at least %g sure", model, sel.Threshold)
	if rest := sel.Otherwise.Text; rest != "" {
		text += ", else " + rest
	}
	return text + "."
}

func toolLines(tools []*engine.Tool) string {
	lines := []string{"**Tools:**"}
	for _, t := range tools {
		var params []string
		if t.Params != nil && t.Params.Kind == generable.RecordType {
			for i := range t.Params.Fields {
				f := &t.Params.Fields[i]
				p := f.Name + ": " + f.Type.String()
				if f.Optional {
					p += " = " + generable.JSON(f.Default, f.Type)
				}
				params = append(params, p)
			}
		}
		line := "- " + t.Name + "(" + strings.Join(params, ", ") + ")"
		if doc, _, _ := strings.Cut(t.Doc, "\n"); doc != "" {
			line += " — " + doc
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
