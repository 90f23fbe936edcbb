// Package needs lists what scripts need from outside, and the flags that grant it.
package needs

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Text lists the needs of one script for people: one line per grant, with its uses.
func Text(script string, list []capability.Need) string {
	type line struct {
		grant, at string
		uses      []string
		more      int
	}
	var lines []*line
	for _, n := range list {
		grant := n.Flag()
		i := slices.IndexFunc(lines, func(l *line) bool { return l.grant == grant })
		if i < 0 {
			i = len(lines)
			at := n.Span.Pos.String()
			if n.Span.Pos.File == n.Script {
				at = fmt.Sprintf("line %d", n.Span.Pos.Line)
			}
			lines = append(lines, &line{grant: grant, at: at})
		}
		use := n.Use.String()
		if n.SecretAsText() {
			use += ", whose name says it is a secret, as a text"
		}
		if n.Server != "" {
			use += " of the MCP server " + n.Server
		}
		switch l := lines[i]; {
		case slices.Contains(l.uses, use):
		case len(l.uses) == mostUses:
			l.more++
		default:
			l.uses = append(l.uses, use)
		}
	}
	return fmt.Sprintf("%s needs, to run:\n%s\n", text.Terminal(script), term.Table(2, func(w io.Writer) {
		for _, l := range lines {
			uses := strings.Join(l.uses, ", ")
			if l.more > 0 {
				uses += fmt.Sprintf(" and %d more", l.more)
			}
			fmt.Fprintf(w, "  %s\t%s, %s\n", text.Terminal(l.grant), text.Terminal(l.at), text.Terminal(uses))
		}
	}))
}

// mostUses bounds the listed uses of one grant.
const mostUses = 3

// JSON writes the needs of all scripts as one list.
func JSON(list []capability.Need) (string, error) {
	out, err := json.Marshal(list)
	return string(out), err
}
