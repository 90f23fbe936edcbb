package scripted

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/generable/sample"
	"github.com/agentscript/agentscript/internal/text"
)

// take finds the row for a call and marks it used. Rows do not change: others may be appended meanwhile.
func (s *Model) take(e *engine.Effect, req *model.Request) (int, *Row, *engine.Error) {
	user := lastUser(req)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, seenCall{e.Agent, e.At, req, -1})
	best := s.find(e.Agent, user, e.At.Path)
	if best < 0 {
		return 0, nil, s.noRow(e, req, user)
	}
	s.used[best] = true
	s.seen[len(s.seen)-1].row = best
	return best, &s.rows[best], nil
}

// Took marks as used the row that answered an earlier call of an agent at a path, for a run that continues.
func (s *Model) Took(agent, path string, req *model.Request) {
	user := lastUser(req)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(agent, user, func() string { return path }); n >= 0 {
		s.used[n] = true
	}
}

// find returns the row for a call, -1 if there is none.
func (s *Model) find(agent, user string, at func() string) int {
	path := ""
	q := s.queueOf(agent)
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
			path = at()
		}
		if row.Path != "" && !under(path, row.Path) || !row.isFor(agent, path) {
			continue
		}
		best = n
		if row.Match == "" {
			break // nothing is narrower than no match, and it came first
		}
	}
	return best
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

// narrower reports whether match a contains match b and is longer.
func narrower(a, b string) bool { return b != "" && len(a) > len(b) && strings.Contains(a, b) }

func (row *Row) isFor(agent, path string) bool {
	if row.Agent == "" || row.Agent == "*" || row.Agent == agent {
		return true
	}
	// "coder#1" is the second node of that name, as its position shows.
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

// lastUser returns the last user message about the task: requests for thoughts are skipped.
func lastUser(r *model.Request) string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := &r.Messages[i]; m.Role == model.RoleUser && !m.AsksToThink() {
			return wire.Joined(m.Parts, model.PartText, "\n\n")
		}
	}
	return ""
}

// lastTold returns the results of the last tool calls, "" if the request does not end with results.
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
	return ", and last received from " + strings.Join(told, ", ")
}

// noRow returns the error for a call that no row answers, with the reason.
func (s *Model) noRow(e *engine.Effect, req *model.Request, user string) *engine.Error {
	rows := s.queueOf(e.Agent).rows
	free := len(s.left(rows))
	var why string
	switch {
	case len(rows) == 0:
		why = "it has no " + s.noun() + "s"
		if near, ok := diag.Suggest(e.Agent, s.agents()); ok {
			why += fmt.Sprintf("; did a %s for %q mean it?", s.noun(), near)
		}
	case free == 0 && len(rows) == 1:
		why = "its only " + s.noun() + " is used up"
	case free == 0:
		why = fmt.Sprintf("all of its %s are used up", text.Count(len(rows), s.noun()))
	case free == 1:
		why = s.mismatch(s.left(rows)[0], e, user)
	case free == len(rows):
		why = fmt.Sprintf("none of its %d %ss matches", free, s.noun())
	default:
		why = fmt.Sprintf("of its %d %ss %d are left, and none matches", len(rows), s.noun(), free)
	}
	where := ""
	if path := e.At.Path(); path != "" {
		where = " at " + path
	}
	file := ""
	if s.name != "" {
		file = " to " + s.name
	}
	message := fmt.Sprintf("no scripted answer for agent %q%s: %s; it was asked %q%s", e.Agent, where, why, text.ClipMiddle(user, 200), lastTold(req))
	if unfit := s.unfit(e, req); unfit != "" {
		message, file = unfit+", and no "+s.noun()+" is left for when it is asked again", " after it, or correct it"
	}
	err := engine.Errorf(engine.KindReplay, diag.ScriptedModel, "%s", message).
		WithHelp("add %s%s; with \"repeat\": true a row answers any number of calls", skeleton(e.Agent, req), file)
	if s.test {
		err.Kind, err.Code = engine.KindTest, diag.Unanswered
		err.Help = "answer it before: " + s.example(e.Agent, req) + "; t.on(...) answers any number of calls"
	}
	if free > 1 {
		for _, n := range s.left(rows)[:min(free, maxListed)] {
			err.Notes = append(err.Notes, s.mismatch(n, e, user))
		}
	}
	for n := range s.rows {
		row := &s.rows[n]
		if wrong := s.nobody(row); wrong != "" && !s.used[n] && len(err.Notes) < maxListed {
			err.Notes = append(err.Notes, fmt.Sprintf("%s is for agent %q, %s", s.place(n), row.Agent, wrong))
		}
	}
	return err
}

// left returns the rows that may still answer.
func (s *Model) left(rows []int) []int {
	var left []int
	for _, n := range rows {
		if !s.spent(n) {
			left = append(left, n)
		}
	}
	return left
}

// place names a row by its file and line, if it was read from a file.
func (s *Model) place(n int) string {
	if at := s.rows[n].At; at.IsValid() {
		return "the answer at " + at.String()
	}
	if s.name == "" || s.rows[n].Line == 0 {
		return fmt.Sprintf("row %d", n+1)
	}
	return fmt.Sprintf("%s:%d", s.name, s.rows[n].Line)
}

// mismatch names the field because of which a row does not answer a call.
func (s *Model) mismatch(n int, e *engine.Effect, user string) string {
	row := &s.rows[n]
	switch {
	case !strings.Contains(user, row.Match):
		return fmt.Sprintf(`%s has %s %q, which the question does not contain`, s.place(n), map[bool]string{false: `"match":`, true: "when ="}[s.test], text.ClipMiddle(row.Match, 100))
	case row.Path != "" && !under(e.At.Path(), row.Path):
		return fmt.Sprintf(`%s has "path": %q, and the call is not below it`, s.place(n), text.ClipMiddle(row.Path, 100))
	}
	return fmt.Sprintf(`%s has "agent": %q, which is another node of that name`, s.place(n), row.Agent)
}

// unfit describes the row that answered the previous call at the same position, if its answer did not fit the requested
// type; "" if that was not the reason to ask again.
func (s *Model) unfit(e *engine.Effect, req *model.Request) string {
	if e.At == nil || e.At.Parent() == nil {
		return ""
	}
	c := s.answered(e.Agent, e.At.Parent().Path())
	if c == nil {
		return ""
	}
	n := c.row
	if req.Output == nil || req.Output.Type == nil || len(s.rows[n].Calls) > 0 || s.rows[n].Error != nil {
		return ""
	}
	said := s.rows[n].response(n, req, "").Text()
	r := lenient.Decode(req.Output.Type, said, generable.Options{})
	if r.OK {
		return ""
	}
	return fmt.Sprintf("%s does not fit %s, the output of agent %q: %s", s.place(n), req.Output.Type, e.Agent, r.Errors)
}

// answered returns the last call at a position that a row answered, of an agent or of any, nil if there is none.
func (s *Model) answered(agent, path string) *seenCall {
	for i := range slices.Backward(s.seen) {
		c := &s.seen[i]
		if c.row >= 0 && (agent == "" || c.agent == agent) && c.at != nil && c.at.Parent() != nil && c.at.Parent().Path() == path {
			return c
		}
	}
	return nil
}

// Explained returns the error of a run that this model answered. If an answer did not fit its type, the error names the
// row.
func (s *Model) Explained(err error) error {
	e, ok := errors.AsType[*engine.Error](err)
	if s == nil || !ok || e.Code != diag.BadModelOutput {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.answered("", e.Path)
	if c == nil {
		return err
	}
	own := *e
	own.Message = s.place(c.row) + ": " + own.Message
	own.Help = "correct the " + s.noun() + ": " + s.example(c.agent, c.req) + "; against a model that answers so: " + e.Help
	if a := s.rows[c.row].Agent; a == "" || a == "*" {
		own.Help = "the " + s.noun() + " is for any agent; one for this agent goes before it: " + s.example(c.agent, c.req)
		for m := c.row + 1; m < len(s.rows); m++ {
			if !s.used[m] && s.rows[m].Agent == c.agent {
				own.Help = fmt.Sprintf("rows answer in the order of the file: %s is for any agent and goes before %s, for agent %q: put it last", s.place(c.row), s.place(m), c.agent)
				break
			}
		}
	}
	return &own
}

// noun returns the word for a row in messages.
func (s *Model) noun() string {
	if s.test {
		return "answer"
	}
	return "row"
}

// example returns what to write to answer a call: a row, or a call of t.reply.
func (s *Model) example(agent string, req *model.Request) string {
	row := skeleton(agent, req)
	if !s.test {
		return row
	}
	_, said, _ := strings.Cut(row, ", ")
	_, said, _ = strings.Cut(strings.TrimSuffix(said, "}"), ": ")
	return fmt.Sprintf("t.reply(%q, %s)", agent, asLiteral(said))
}

// asLiteral converts JSON to a literal of the language.
func asLiteral(data string) string {
	var b strings.Builder
	for i, part := range strings.Split(data, `"`) { // samples contain no quotes
		if i > 0 {
			b.WriteByte('"')
		}
		if i%2 == 0 {
			part = strings.NewReplacer("true", "True", "false", "False", "null", "None").Replace(part)
		}
		b.WriteString(part)
	}
	return b.String()
}

// skeleton returns a row to start with for a call, with the agent's output type.
func skeleton(agent string, req *model.Request) string {
	if req.Output != nil && req.Output.Type != nil && req.Output.Type.Deref().Kind != generable.StrType {
		if v, err := sample.Skeleton(req.Output.Type); err == nil {
			return fmt.Sprintf(`{"agent": %q, "json": %s}`, agent, spaced(generable.JSON(generable.Answer(v, req.Output.Type), nil)))
		}
		return fmt.Sprintf(`{"agent": %q, "json": %s}`, agent, outline(req.Output.Type.Deref()))
	}
	return fmt.Sprintf(`{"agent": %q, "text": "…"}`, agent)
}

// outline writes a value of a type for which no value was found: "…" marks what a person must fill in.
func outline(t *generable.Type) string {
	if t.Kind != generable.RecordType {
		return "…"
	}
	fields := make([]string, len(t.Fields))
	for i := range t.Fields {
		f, shown := &t.Fields[i], "…"
		alone := &generable.Type{Kind: generable.RecordType, Name: t.Name, Fields: t.Fields[i : i+1]} // with the checks of the field
		if v, err := sample.Skeleton(alone); err == nil {
			shown = strings.TrimSuffix(strings.TrimPrefix(spaced(generable.JSON(generable.Answer(v, alone), nil)), fmt.Sprintf("{%q: ", f.Key())), "}")
		}
		fields[i] = fmt.Sprintf("%q: %s", f.Key(), shown)
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// spaced returns JSON in the usual form for one line, with blanks after colons and commas.
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
