package llm

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// Requests returns the calls that were made, in the order in which they came; branches that
// run at the same time come in any order.
func (s *Scripted) Requests() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := make([]Seen, len(s.seen))
	for i, c := range s.seen {
		seen[i] = Seen{Agent: c.agent, Path: c.at.Path(), Request: c.req}
	}
	return seen
}

// Unused returns the rows that answered nothing.
func (s *Scripted) Unused() []ScriptedRow {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []ScriptedRow
	for n, used := range s.used {
		if !used {
			rows = append(rows, s.rows[n])
		}
	}
	return rows
}

// maxListed is how many unused rows a message lists.
const maxListed = 5

// Err returns an *[engine.Error] when rows were left over, else nil: a test that expected more
// calls than were made must not pass.
func (s *Scripted) Err() error {
	rows := s.Unused()
	if len(rows) == 0 {
		return nil
	}
	var list []string
	for _, row := range rows[:min(len(rows), maxListed)] {
		list = append(list, row.describe())
	}
	if more := len(rows) - maxListed; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	from := ""
	if s.name != "" {
		from = " of " + s.name
	}
	return engine.Errorf(engine.KindConfig, diag.ScriptedModel, "%s%s answered nothing: %s", text.Count(len(rows), "scripted row"), from, strings.Join(list, "; ")).
		WithHelp("the run itself came to its end, with fewer model calls than the script expects: find out why, or keep a file of answers for each input")
}

func (row *ScriptedRow) describe() string {
	var b strings.Builder
	if row.Line > 0 {
		fmt.Fprintf(&b, "line %d, ", row.Line)
	}
	agent := row.Agent
	if agent == "" {
		agent = "*"
	}
	fmt.Fprintf(&b, "agent %q", agent)
	if row.Match != "" {
		fmt.Fprintf(&b, " matching %q", text.ClipMiddle(row.Match, 40))
	}
	if row.Path != "" {
		fmt.Fprintf(&b, " at %s", row.Path)
	}
	return b.String()
}
