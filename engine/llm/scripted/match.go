package scripted

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/sample"
	"github.com/agentscript/agentscript/internal/text"
)

// take finds the row for a call and marks it used.
func (s *Model) take(e *engine.Effect, req *model.Request) (int, *engine.Error) {
	user, path := lastUser(req), ""
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, seenCall{e.Agent, e.At, req})
	q := s.queueOf(e.Agent)
	for q.next < len(q.rows) && s.spent(q.rows[q.next]) {
		q.next++
	}
	best := -1
	for _, n := range q.rows[q.next:] {
		row := &s.rows[n]
		if best >= 0 && !narrower(row.Match, s.rows[best].Match) {
			continue
		}
		if s.spent(n) || !strings.Contains(user, row.Match) {
			continue
		}
		if (row.Path != "" || strings.Contains(row.Agent, "#")) && path == "" {
			path = e.At.Path()
		}
		if row.Path != "" && !under(path, row.Path) || !row.isFor(e.Agent, path) {
			continue
		}
		best = n
		if row.Match == "" {
			break // nothing is narrower than no match, and it came first
		}
	}
	if best < 0 {
		return 0, s.noRow(e, req, user)
	}
	s.used[best] = true
	return best, nil
}

// spent reports whether a row has given its one answer.
func (s *Model) spent(n int) bool { return s.used[n] && !s.rows[n].Repeat }

// queueOf lists the rows that could answer an agent.
func (s *Model) queueOf(agent string) *queue {
	q := s.byAgent[agent]
	if q == nil {
		q = &queue{}
		for n := range s.rows {
			name, _, _ := strings.Cut(s.rows[n].Agent, "#")
			if name == "" || name == "*" || name == agent || s.rows[n].Agent == agent {
				q.rows = append(q.rows, n)
			}
		}
		s.byAgent[agent] = q
	}
	return q
}

// narrower reports whether a match says all that b says and more.
func narrower(a, b string) bool { return b != "" && len(a) > len(b) && strings.Contains(a, b) }

func (row *Row) isFor(agent, path string) bool {
	if row.Agent == "" || row.Agent == "*" || row.Agent == agent {
		return true
	}
	// "coder#1" is the second node of that name, as its position says.
	for rest := path; ; {
		i := strings.Index(rest, "agent:"+row.Agent)
		if i < 0 {
			return false
		}
		rest = rest[i+len("agent:"+row.Agent):]
		if rest == "" || rest[0] == '/' || rest[0] == '[' {
			return true
		}
	}
}

// under reports whether path begins with prefix and the prefix does not end inside a number.
func under(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok || rest == "" {
		return ok
	}
	return !isDigit(prefix[len(prefix)-1]) || !isDigit(rest[0])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func lastUser(r *model.Request) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == model.RoleUser {
			return wire.Joined(r.Messages[i].Parts, model.PartText, "\n\n")
		}
	}
	return ""
}

// lastTold says what the tools answered that were called last, "" when the request ends otherwise.
func lastTold(r *model.Request) string {
	if len(r.Messages) == 0 || r.Messages[len(r.Messages)-1].Role != model.RoleTool {
		return ""
	}
	var told []string
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.Result != nil {
			told = append(told, fmt.Sprintf("%s %q", p.Result.Name, text.ClipMiddle(p.Result.Text, 100)))
		}
	}
	if more := len(told) - maxListed; more > 0 {
		told = append(told[:maxListed], fmt.Sprintf("%d more", more))
	}
	return ", and last told by " + strings.Join(told, ", ")
}

// noRow says which call found nothing and why.
func (s *Model) noRow(e *engine.Effect, req *model.Request, user string) *engine.Error {
	rows, free := s.queueOf(e.Agent).rows, 0
	for _, n := range rows {
		if !s.spent(n) {
			free++
		}
	}
	var why string
	switch {
	case len(rows) == 0:
		why = "it has no rows"
		if near, ok := diag.Suggest(e.Agent, s.agents()); ok {
			why += fmt.Sprintf("; did a row for %q mean it?", near)
		}
	case free == 0 && len(rows) == 1:
		why = "its only row is used up"
	case free == 0:
		why = fmt.Sprintf("all of its %s are used up", text.Count(len(rows), "row"))
	case len(rows) == 1:
		why = "its only row does not match"
	case free == len(rows):
		why = fmt.Sprintf("none of its %d rows matches", free)
	case free == 1:
		why = fmt.Sprintf("of its %d rows one is left, which does not match", len(rows))
	default:
		why = fmt.Sprintf("of its %d rows %d are left, and none matches", len(rows), free)
	}
	where := ""
	if path := e.At.Path(); path != "" {
		where = " at " + path
	}
	file := ""
	if s.name != "" {
		file = " to " + s.name
	}
	err := engine.Errorf(engine.KindConfig, diag.ScriptedModel, "no scripted answer for agent %q%s: %s; it was asked %q%s", e.Agent, where, why, text.ClipMiddle(user, 200), lastTold(req)).
		WithHelp("add %s%s; with \"repeat\": true a row answers any number of calls", skeleton(e.Agent, req), file)
	for n := range s.rows {
		row := &s.rows[n]
		if wrong := s.nobody(row); wrong != "" && !s.used[n] && len(err.Notes) < maxListed {
			err.Notes = append(err.Notes, fmt.Sprintf("%s:%d is for agent %q, %s", cmp.Or(s.name, "row"), cmp.Or(row.Line, n), row.Agent, wrong))
		}
	}
	return err
}

// skeleton is a row to begin with for a call: of the agent's output type.
func skeleton(agent string, req *model.Request) string {
	if req.Output != nil && req.Output.Type != nil && req.Output.Type.Deref().Kind != generable.StrType {
		if v, err := sample.Skeleton(req.Output.Type); err == nil {
			return fmt.Sprintf(`{"agent": %q, "json": %s}`, agent, spaced(generable.JSON(v, req.Output.Type)))
		}
	}
	return fmt.Sprintf(`{"agent": %q, "text": "…"}`, agent)
}

// spaced is JSON as people write it in a line, with blanks behind colons and commas.
func spaced(data string) string {
	var b strings.Builder
	within, escaped := false, false
	for i := range len(data) {
		c := data[i]
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case within && c == '\\':
			escaped = true
		case c == '"':
			within = !within
		case !within && (c == ':' || c == ','):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func (s *Model) agents() []string {
	var names []string
	for i := range s.rows {
		if name, _, _ := strings.Cut(s.rows[i].Agent, "#"); name != "" && name != "*" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
