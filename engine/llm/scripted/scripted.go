// Package scripted answers model calls from a list, for tests and for running without a provider. [Read] reads the list
// from JSON lines, [Answers] takes it as Go values.
package scripted

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/text"
)

// Row is one prepared answer. It contains one of text, JSON, calls and error, or text with calls; with none of them the
// answer is empty.
type Row struct {
	Agent string          `json:"agent"` // name, "name#0" for the first of that name, "*" or "" for any
	Match string          `json:"match"` // only when the last user message contains it; "" always
	Path  string          `json:"path"`  // only at positions that begin with it; "" anywhere
	Text  *string         `json:"text"`  // the answer
	JSON  json.RawMessage `json:"json"`  // the answer, as JSON
	Calls []Call          `json:"calls"` // tool calls
	Error *Error          `json:"-"`     // the call fails
	// Citations are the sources of the answer.
	Citations []model.Citation `json:"citations"`
	Finish    model.Finish     `json:"finish"` // "" for stop, or tool_calls with calls
	Usage     *model.Usage     `json:"-"`      // nil estimates: runes/4
	Delay     time.Duration    `json:"-"`      // before the answer, cut short when the call is cancelled
	Repeat    bool             `json:"repeat"` // may answer any number of calls
	Pieces    []string         `json:"-"`      // of the text as it is streamed; nil streams words
	Line      int              `json:"-"`      // in its file, 0 otherwise
	At        diag.Pos         `json:"-"`      // where a test prepares it
}

// Call is a tool call of a scripted answer.
type Call struct {
	ID   string          `json:"id"`   // "" makes one
	Name string          `json:"name"` // of the tool
	Args json.RawMessage `json:"args"` // an object; nil is an empty one
}

// Error is a scripted failure.
type Error struct {
	Kind       engine.ErrKind
	Message    string
	Status     int
	RetryAfter time.Duration
}

// Model answers model calls from a list, for tests and for running without a provider.
//
// The first unused row that fits a call answers it: by agent, by a part of the last user message, by position. If that
// part is contained in the longer one of another fitting row, the longer one answers, so that "item 1" does not take
// the row of "item 10". Branches that run one agent concurrently get the same rows in any order of completion if their
// rows have distinct matches or paths. A call that no row fits fails loudly.
type Model struct {
	name string // of the file, for messages
	rows []Row

	mu      sync.Mutex
	used    []bool
	byAgent map[string]*queue // rows that could answer an agent, built at its first call
	seen    []seenCall
	excused map[string]bool // agents whose rows may be left over; "" for all
	names   []string        // of all agents, nil if unknown
	test    bool            // its rows are answers that a test prepares
}

// queue lists an agent's rows in order; those before next are used up.
type queue struct {
	rows []int
	next int
}

type seenCall struct {
	agent string
	at    *engine.Frame
	req   *model.Request
	row   int // the row that answered it, -1 for none
}

// Seen is a call that was made.
type Seen struct {
	Agent   string
	Path    string
	Request *model.Request
}

var _ engine.Handler = (*Model)(nil)

// New returns a model that answers from rows.
func New(rows []Row) *Model {
	return &Model{rows: slices.Clone(rows), used: make([]bool, len(rows)), byAgent: map[string]*queue{}}
}

// ForTest returns a model without rows, to which a test appends its answers. Its messages say what the test must do.
func ForTest() *Model {
	s := New(nil)
	s.test = true
	return s
}

// Append appends rows.
func (s *Model) Append(rows ...Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, rows...)
	s.used = append(s.used, make([]bool, len(rows))...)
	clear(s.byAgent)
}

// Withdraw disables all rows after the first n: they answer nothing more, and do not count as left over.
func (s *Model) Withdraw(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; n < len(s.rows); n++ {
		s.used[n], s.rows[n].Repeat = true, false
	}
}

// Answers returns a scripted model that returns each agent's answers in order.
func Answers(answers map[string][]string) *Model {
	var rows []Row
	for _, agent := range slices.Sorted(maps.Keys(answers)) {
		for i := range answers[agent] {
			rows = append(rows, Row{Agent: agent, Text: &answers[agent][i]})
		}
	}
	return New(rows)
}

// Do implements [engine.Handler] for effects of kind model.
func (s *Model) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	req, ok := e.Req.(*model.Request)
	if !ok || req == nil {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.ProviderError, "a model effect of %q carries %T, not a model request", e.Agent, e.Req))
	}
	clock.Turn(ctx) // servers also ask models, concurrently
	n, row, err := s.take(e, req)
	if err != nil {
		return engine.Failed(err)
	}
	_ = clock.Sleep(ctx, row.Delay) // Interrupted reports the same
	if err := wire.Interrupted(ctx); err != nil {
		err.Message = "scripted: " + err.Message
		return engine.Failed(err)
	}
	name := cmp.Or(e.Name, req.Model, "scripted")
	if row.Error != nil {
		return engine.Failed(row.failure(name))
	}
	resp := row.response(n, req, name)
	cutShort(req, resp)
	if e.Short {
		cutOff(resp, int(e.MaxOut))
	}
	if e.Stream && sink != nil {
		if row.Pieces != nil && strings.Join(row.Pieces, "") == resp.Text() { // otherwise it was cut off
			for seq, piece := range row.Pieces {
				sink(engine.Token{Attempt: 1, Seq: seq, Text: piece})
			}
		} else {
			for seq, word := range text.Words(resp.Text()) {
				sink(engine.Token{Attempt: 1, Seq: seq, Text: word})
			}
		}
	}
	return engine.Outcome{Response: resp, Usage: resp.Usage, Attempt: 1}
}

func (row *Row) response(n int, req *model.Request, name string) *model.Response {
	r := &model.Response{Finish: row.Finish, Model: name, Citations: row.Citations}
	switch {
	case row.Text != nil:
		r.Parts = append(r.Parts, model.Part{Kind: model.PartText, Text: *row.Text})
	case row.JSON != nil:
		r.Parts = append(r.Parts, model.Part{Kind: model.PartText, Text: string(row.JSON)})
	}
	for i, c := range row.Calls {
		call := &model.ToolCall{ID: c.ID, Name: c.Name, Args: string(c.Args)}
		if call.ID == "" {
			// The row and the length of the conversation make the id unique in the conversation and the same in every
			// run.
			call.ID = "call_" + strconv.Itoa(n) + "_" + strconv.Itoa(len(req.Messages)) + "_" + strconv.Itoa(i)
		}
		if call.Args == "" {
			call.Args = "{}"
		}
		r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: call})
	}
	if r.Finish == "" {
		r.Finish = model.FinishStop
		if len(row.Calls) > 0 {
			r.Finish = model.FinishCalls
		}
	}
	if row.Usage != nil {
		r.Usage = *row.Usage
	} else {
		r.Usage = model.EstimateUsage(req, r)
	}
	return r
}

func (row *Row) failure(model string) *engine.Error {
	f := row.Error
	provider, id, _ := strings.Cut(model, "/")
	e := engine.Errorf(f.Kind, wire.CodeOf(f.Kind), "%s: %s", model, cmp.Or(f.Message, "scripted failure"))
	e.Model = &engine.Provider{Name: provider, Model: id, Status: f.Status, RetryAfter: f.RetryAfter, Retryable: slices.Contains(retryable, f.Kind)}
	if row.Usage != nil {
		e.Usage = *row.Usage
	}
	switch f.Kind {
	case engine.KindCancelled:
		e.Cause = context.Canceled
	case engine.KindTimeout:
		e.Cause = context.DeadlineExceeded
	}
	return e
}

var retryable = []engine.ErrKind{engine.KindRateLimit, engine.KindOverloaded, engine.KindServer, engine.KindNetwork, engine.KindTimeout, engine.KindTruncated}

// cutShort reduces a scripted answer to the part that is wanted.
func cutShort(req *model.Request, r *model.Response) {
	w := req.Output.Watch()
	if w == nil || len(r.Calls()) > 0 {
		return
	}
	for _, word := range text.Words(r.Text()) {
		if !w.Feed(word) {
			break
		}
	}
	if w.Met() {
		r.Parts = []model.Part{{Kind: model.PartText, Text: w.Answer()}}
	}
}

// cutOff ends an answer at the limit that a budget set, as a provider would.
func cutOff(r *model.Response, limit int) {
	out := r.Usage.Out
	if out <= limit {
		return
	}
	said := []rune(r.Text())
	r.Parts = []model.Part{{Kind: model.PartText, Text: string(said[:len(said)*limit/out])}} // calls would be cut as well
	r.Finish, r.Usage.Out, r.Usage.Reasoning = model.FinishLength, limit, min(r.Usage.Reasoning, limit)
	r.Usage.CostUSD *= float64(r.Usage.In+limit) / float64(r.Usage.In+out)
}

// Requests returns the calls in the order of arrival; concurrent branches arrive in any order.
func (s *Model) Requests() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := make([]Seen, len(s.seen))
	for i, c := range s.seen {
		seen[i] = Seen{Agent: c.agent, Path: c.at.Path(), Request: c.req}
	}
	return seen
}

// excuse allows the rows of agents to be left over, or those of any agent if the list is empty: these agents were in a
// branch of the run that ended because another one was faster, or failed. A run calls it on the model that answers it.
func (s *Model) excuse(agents []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.excused == nil {
		s.excused = map[string]bool{}
	}
	if len(agents) == 0 {
		agents = []string{""}
	}
	for _, name := range agents {
		s.excused[name] = true
	}
}

// Excusing returns the function by which a run excuses agents.
func (s *Model) Excusing() func(agents []string) { return s.excuse }

// mayBeLeft reports whether a row is excused: its agent, the agent that it routes for or summarizes, or any agent is.
func (s *Model) mayBeLeft(row *Row) bool {
	name, _, _ := strings.Cut(row.Agent, "#")
	of, _, _ := strings.Cut(name, ".")
	return s.excused[""] || s.excused[name] || s.excused[of] || (name == "" || name == "*") && len(s.excused) > 0
}

// Agents sets the names of the existing agents, so that an unused row for another name is reported as such.
func (s *Model) Agents(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = slices.Clone(names)
}

// nobody says that a row is for an agent that does not exist, "" if the agent exists.
func (s *Model) nobody(row *Row) string {
	name, _, _ := strings.Cut(row.Agent, "#")
	of, _, _ := strings.Cut(name, ".")
	if s.names == nil || name == "" || name == "*" || slices.Contains(s.names, name) || slices.Contains(s.names, of) {
		return ""
	}
	if near := diag.DidYouMean(name, s.names); near != "" {
		return fmt.Sprintf("and there is no agent %q: %s", name, near)
	}
	return fmt.Sprintf("and there is no agent %q", name)
}

// anyone returns a repeating row for any agent that precedes row n and prevents it from ever answering; -1 for none.
func (s *Model) anyone(n int) int {
	for m := range s.rows[:n] {
		row := &s.rows[m]
		if (row.Agent == "" || row.Agent == "*") && row.Repeat && row.Path == "" && strings.Contains(s.rows[n].Match, row.Match) && !narrower(s.rows[n].Match, row.Match) {
			return m
		}
	}
	return -1
}

// Unused returns the rows that answered nothing, except repeating rows and rows of agents that were not called because
// a branch was ended.
func (s *Model) Unused() []Row { return s.UnusedSince(0) }

// UnusedSince is Unused without the first n rows.
func (s *Model) UnusedSince(n int) []Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []Row
	for i := n; i < len(s.rows); i++ {
		if !s.used[i] && !s.rows[i].Repeat && !s.mayBeLeft(&s.rows[i]) {
			rows = append(rows, s.rows[i])
		}
	}
	return rows
}

// Instead returns where a repeating row was prepared that answered a call which a left-over row fits.
func (s *Model) Instead(left Row) (at diag.Pos, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, _, _ := strings.Cut(left.Agent, "#")
	for _, c := range s.seen {
		anyone := name == "" || name == "*"
		if c.row >= 0 && s.rows[c.row].Repeat && (anyone || name == c.agent) && left.isFor(c.agent, c.at.Path()) && strings.Contains(lastUser(c.req), left.Match) {
			return s.rows[c.row].At, true
		}
	}
	return diag.Pos{}, false
}

// Len returns the number of rows.
func (s *Model) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rows)
}

// maxListed is how many unused rows a message lists.
const maxListed = 5

// Err returns an *[engine.Error] if rows are left over, else nil: a test that expected more calls than were made must
// not pass.
func (s *Model) Err() error {
	rows := s.Unused()
	if len(rows) == 0 {
		return nil
	}
	help := "the run itself came to its end, with fewer model calls than the script expects: find out why, or keep a file of answers for each input"
	var list []string
	for i, row := range rows[:min(len(rows), maxListed)] {
		text := row.describe()
		n := slices.IndexFunc(s.rows, func(r Row) bool { return r.Line == row.Line })
		if wrong := s.nobody(&row); wrong != "" {
			text += ", " + wrong
			if i == 0 && len(s.names) > 0 {
				help = "leave the row out: only agents ask a model, which are " + strings.Join(s.names, ", ")
			}
		} else if m := s.anyone(n); row.Line > 0 && m >= 0 {
			text += ", after " + s.place(m) + ", which answers any agent"
			help = "rows answer in the order of the file: put the one for any agent last"
		}
		list = append(list, text)
	}
	if more := len(rows) - maxListed; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	from := ""
	if s.name != "" {
		from = " of " + s.name
	}
	return engine.Errorf(engine.KindConfig, diag.ScriptedModel, "%s%s answered nothing: %s", text.Count(len(rows), "scripted row"), from, strings.Join(list, "; ")).
		WithHelp("%s", help)
}

func (row *Row) describe() string {
	var b strings.Builder
	if row.Line > 0 {
		fmt.Fprintf(&b, "line %d, ", row.Line)
	}
	fmt.Fprintf(&b, "agent %q", cmp.Or(row.Agent, "*"))
	if row.Match != "" {
		fmt.Fprintf(&b, " matching %q", text.ClipMiddle(row.Match, 40))
	}
	if row.Path != "" {
		fmt.Fprintf(&b, " at %s", row.Path)
	}
	return b.String()
}
