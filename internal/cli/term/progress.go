package term

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/text"
)

// progress writes for people what a run does: a line for each call of an agent and for whatever went wrong; with
// verbose, a line for each event.
type progress struct {
	w       io.Writer
	style   ProgressStyle
	started map[uint64]time.Time // by a hash of what and where, since a position may be long
	seed    maphash.Seed
	sums    tally
	repairs *repairs              // the most recent ones, for verbose
	agents  map[string]*agentCall // open calls, by position
	servers map[string]bool       // connected servers
	asking  []string              // positions of models being called
	failed  string                // where the last node failed
	waiting bool                  // the last line on the terminal says what is awaited, and is replaced by the next

	approvals map[uint64]string // names of approvals that have begun, by a hash of their position
}

// ProgressStyle is how progress is written.
type ProgressStyle struct {
	Color    bool   // w is a terminal with colours: it also shows what is awaited
	Verbose  bool   // a line for each event
	Notes    bool   // only what no node and no call reports: what the script prints, budgets, what is denied or left out
	Answered string // what answers instead of a provider, for example "scripted"

	File func(string) string // returns a readable name of a file; nil means its base name
}

// NewProgress returns the sink that writes progress to w.
func NewProgress(w io.Writer, style ProgressStyle) *progress {
	return &progress{w: w, style: style, started: map[uint64]time.Time{}, seed: maphash.MakeSeed(), agents: map[string]*agentCall{}, servers: map[string]bool{}}
}

func (p *progress) Kinds() engine.EventKind {
	return engine.EventAll &^ (engine.EventToken | engine.EventPartial)
}

func (p *progress) Event(e engine.Event) {
	at := p.place(e)
	p.sums.count(e)
	switch d := e.Data.(type) {
	case *event.Run:
		if !p.style.Notes {
			p.run(e, d)
		}
		return
	case *event.Retry:
		if p.style.Notes {
			return
		}
	case *event.Policy:
		if p.style.Notes && d.Err == nil {
			return
		}
	}
	switch {
	case p.style.Notes:
	case p.style.Verbose:
		p.told(e, at)
	default:
		p.brief(e, at)
	}
	switch d := e.Data.(type) {
	case *event.Budget:
		text := d.Text
		if d.Err != nil {
			text = d.Err.Message
		}
		p.line("budget", at, OneLine(text, 200))
	case *event.Retry:
		p.retry(d, at)
	case *event.Policy:
		p.policy(d, at)
	case *event.Dropped:
		p.line("drop", at, d.Name, OneLine(d.Text, 120))
	case *event.Escalation:
		p.line("people", at, strings.TrimSpace(d.Name+" "+string(d.Severity)), OneLine(d.Text, 120))
	case *event.Left:
		p.line("left", at, d.Name+" has not stopped")
	case *event.Log:
		p.line("log", at, d.Text)
	case *event.Phase:
		p.line("phase", at, d.Name)
	}
}

// told writes a line for what only verbose progress shows.
func (p *progress) told(e engine.Event, at string) {
	if _, ok := e.Data.(*event.Repair); !ok {
		p.tellRepairs()
	}
	switch d := e.Data.(type) {
	case *event.Node:
		if d.Phase == engine.PhaseStart {
			p.begin("node", e)
			p.line("start", at)
			return
		}
		p.end(ended(d), at, d.Err, p.since("node", e))
	case *event.Effect:
		p.connects(e, d)
		if r, ok := d.Request.(*engine.SleepRequest); ok {
			p.line("sleep", at, "for "+Duration(r.For))
		}
		if !isModelCall(e.Path) { // a tool's own events say more
			return
		}
		if d.Phase == engine.PhaseStart {
			p.begin("effect", e)
			p.line("call", at, p.model(d.Name))
			return
		}
		p.answer(e, d, at)
	case *event.Tool:
		if d.Phase == engine.PhaseStart {
			p.begin("tool", e)
			p.line("tool", at, d.Name+" "+OneLine(d.Text, 80))
			return
		}
		p.toolEnd("result", at, p.since("tool", e), d)
	case *event.Skill:
		p.line("skill", at, d.Name+sureness(d.Confidence), OneLine(d.Text, 80))
	case *event.Knowledge:
		p.toolEnd("knows", at, "", (*event.Tool)(d))
	case *event.Repair:
		if p.repairs != nil && (p.repairs.at != at || p.repairs.last != d.Name) {
			p.tellRepairs()
		}
		if p.repairs == nil {
			p.repairs = &repairs{at: at}
		}
		p.repairs.add(d)
	case *event.Citation:
		p.line("source", at, cmp.Or(d.Citation.Title, d.Citation.URL, d.Citation.Source), d.Citation.URL)
	case *event.History:
		p.line("shorter", at, OneLine(d.Text, 120))
	case *event.Handoff:
		p.line("hand", at, d.From+" to "+d.To, d.Type)
	}
}

// toolEnd writes the outcome of a tool call; for a failed one, why and where in the script.
func (p *progress) toolEnd(word, at, took string, d *event.Tool) {
	if d.Err == nil {
		p.end(word, at, nil, took, d.Name, OneLine(d.Text, 80))
		return
	}
	p.end(word, at, d.Err, took, d.Name, Placed(d.Err, 200, p.style.File))
}

// Placed returns the message of an error in one line of about most characters, prefixed by the position in the script
// where it occurred.
func Placed(e *engine.Error, most int, file func(string) string) string {
	said := OneLine(strings.ReplaceAll(strings.TrimSpace(e.Message), "\n", "; "), most) // each line is one of several problems
	if e.Pos.IsValid() {
		at := e.Pos
		if file != nil {
			at.File = file(at.File)
		}
		said = at.String() + ": " + said
	}
	return said
}

// connects says once for each server that it is being connected to, which may take long.
func (p *progress) connects(e engine.Event, d *event.Effect) {
	if _, ok := d.Request.(*remote.ListRequest); ok && d.Phase == engine.PhaseStart && !d.Replayed && !p.servers[d.Name] {
		p.servers[d.Name] = true
		p.line("wait", ProgressPath(path.Dir(e.Path)), "connecting to MCP server "+d.Name+"…")
	}
}

// model returns what answers in the name of a model.
func (p *progress) model(name string) string {
	switch {
	case p.style.Answered == "":
		return cmp.Or(name, "no model")
	case name != "" && p.style.Verbose:
		return p.style.Answered + " for " + name
	}
	return p.style.Answered
}

// sureness says how confident a model was in its choice.
func sureness(confidence *float64) string {
	if confidence == nil {
		return ""
	}
	return fmt.Sprintf(" (%.0f%%)", *confidence*100)
}

func (p *progress) run(e engine.Event, d *event.Run) {
	if d.Phase == engine.PhaseStart {
		p.begin("run", e)
		return
	}
	p.tellRepairs()
	var sums []string
	if p.sums.calls > 0 {
		calls := text.Count(p.sums.calls, "model call")
		if p.sums.failedCalls > 0 {
			calls = fmt.Sprintf("%d of %s failed", p.sums.failedCalls, calls)
		}
		sums = append(sums, calls)
		if p.sums.usage != (model.Usage{}) {
			sums = append(sums, tokens(p.sums.usage))
		}
	}
	sums = append(sums, p.sums.tools.String()) // an answer may look good despite failed tools
	for i := range d.Spent {
		sums = append(sums, "used "+d.Spent[i].Of())
	}
	p.end("done", "run", d.Err, p.since("run", e), sums...)
}

func (p *progress) answer(e engine.Event, d *event.Effect, at string) {
	parts := []string{p.model(d.Name)}
	if d.Usage != nil && *d.Usage != (model.Usage{}) {
		parts = append(parts, tokens(*d.Usage))
	}
	took := p.since("effect", e)
	if d.Replayed {
		took = "recorded"
	}
	p.end("answer", at, d.Err, took, parts...)
}

// retry writes what failed and what is done about it.
func (p *progress) retry(d *event.Retry, at string) {
	next := "asks " + d.To
	if d.To == d.From {
		next = "again in " + Duration(d.Wait)
	}
	why := ""
	if d.Err != nil {
		why = OneLine(d.Err.Message, 120)
	}
	p.line("retry", at, next, why)
}

// policy writes what was decided about a call.
func (p *progress) policy(d *event.Policy, at string) {
	text, code := d.Text, ""
	if d.Err != nil {
		text += ": " + cmp.Or(d.Err.Help, d.Err.Message)
		code = string(d.Err.Code)
	}
	word := "policy"
	if d.Phase == engine.PhaseStart {
		word = "ask"
	}
	p.line(word, at, d.Name, OneLine(text, 120), code)
}

// end writes the outcome of something and how long it took.
func (p *progress) end(word, at string, err *engine.Error, took string, parts ...string) {
	switch {
	case err == nil:
	case err.Kind == engine.KindCancelled && at != "run":
		word = cancelled
	default:
		word = "failed"
		parts = append(parts, string(err.Code))
	}
	p.line(word, at, append([]string{took}, parts...)...)
}

// cancelled is the word for what was stopped because another branch won or failed, or a budget around it was exhausted.
const cancelled = "cancel"

// ended returns the word for the end of a node without an error.
func ended(d *event.Node) string {
	switch d.Status {
	case engine.StatusCancelled:
		return cancelled
	case engine.StatusSkipped:
		return "skip"
	case engine.StatusFailed:
		return "failed"
	}
	return "done"
}

func (p *progress) begin(what string, e engine.Event) { p.started[p.key(what, e)] = e.At }

func (p *progress) key(what string, e engine.Event) uint64 {
	return maphash.String(p.seed, e.Path) ^ maphash.String(p.seed, what)
}

func (p *progress) since(what string, e engine.Event) string {
	key := p.key(what, e)
	start, ok := p.started[key]
	if !ok {
		return ""
	}
	delete(p.started, key)
	return Duration(e.At.Sub(start))
}

var wordColors = map[string]string{"done": "32", "answer": "32", "result": "32", "failed": "31", "repair": "33", "wait": "33", "budget": "33", "retry": "33"}

// line writes one line. A failing stderr must not end the run.
func (p *progress) line(word, at string, parts ...string) {
	padded := fmt.Sprintf("%-6s", word)
	if p.style.Color {
		code := wordColors[word]
		if code == "" {
			code = "2"
		}
		padded = "\x1b[" + code + "m" + padded + "\x1b[0m"
	}
	all := at
	for _, part := range parts {
		if part != "" {
			all += "  " + part
		}
	}
	all = strings.ReplaceAll(text.Terminal(strings.TrimRight(all, "\n")), "\n", "\n       ")
	p.Clear()
	_, _ = fmt.Fprintln(p.w, padded, all)
	p.await()
}

func tokens(u model.Usage) string {
	about := ""
	if u.Estimated {
		about = "about "
	}
	return fmt.Sprintf("%s%d+%d tokens", about, u.In, u.Out) + money(u)
}

// money returns the cost of calls. It mentions calls without a known price only if others have one: otherwise there is
// no sum.
func money(u model.Usage) string {
	if u.CostUSD == 0 {
		return ""
	}
	if u.Unpriced > 0 {
		return fmt.Sprintf(", $%s and %s without a known price", Amount(u.CostUSD), text.Count(u.Unpriced, "call"))
	}
	return ", $" + Amount(u.CostUSD)
}

// Amount formats money to the cent, or to two significant digits.
func Amount(usd float64) string {
	digits := 2
	if usd > 0 && usd < 1 {
		digits = 1 - int(math.Floor(math.Log10(usd)))
	}
	return strconv.FormatFloat(usd, 'f', digits, 64)
}

// Duration formats a time with about three digits: 0.4ms, 12ms, 1.3s, 2m03s.
func Duration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// OneLine shortens a text to one line, which ends with a word.
func OneLine(s string, most int) string {
	return text.ClipWords(strings.Join(strings.Fields(s), " "), most)
}

// place returns the readable position of an event. For an approval without a name, which is an ordinary step in
// positions, it includes the question.
func (p *progress) place(e engine.Event) string {
	at, what := ProgressPath(e.Path), p.key("node", e)
	if d, ok := e.Data.(*event.Node); ok && d.Phase == engine.PhaseStart && strings.HasPrefix(d.Name, "approval(") {
		if p.approvals == nil {
			p.approvals = map[uint64]string{}
		}
		p.approvals[what] = d.Name
	}
	if name := p.approvals[what]; name != "" {
		at = path.Join(path.Dir(at), name)
	}
	return at
}

// Said returns the line for what a script printed, or for the phase that it began.
func Said(e engine.Event) string {
	var b strings.Builder
	NewProgress(&b, ProgressStyle{Notes: true}).Event(e)
	return strings.TrimRight(b.String(), "\n")
}
