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
	"github.com/agentscript/agentscript/internal/text"
)

// progress writes a line per event for people.
type progress struct {
	w       io.Writer
	color   bool
	unnamed string               // what stands for a model without a name
	started map[uint64]time.Time // by a hash of what and where: a position may be long
	seed    maphash.Seed
	calls   int
	tools   toolCount
	usage   model.Usage
}

func NewProgress(w io.Writer, color bool, unnamed string) *progress {
	return &progress{w: w, color: color, unnamed: unnamed, started: map[uint64]time.Time{}, seed: maphash.MakeSeed()}
}

func (p *progress) Kinds() engine.EventKind {
	return engine.EventAll &^ (engine.EventToken | engine.EventPartial)
}

func (p *progress) Event(e engine.Event) {
	at := progressPath(e.Path)
	switch d := e.Data.(type) {
	case *event.Run:
		p.run(e, d)
	case *event.Node:
		if d.Phase == engine.PhaseStart {
			p.begin("node", e)
			p.line("start", at)
			return
		}
		p.end("done", at, d.Err, p.since("node", e))
	case *event.Effect:
		if !strings.HasPrefix(path.Base(e.Path), "llm") { // a tool's own events say more
			return
		}
		if d.Phase == engine.PhaseStart {
			p.begin("effect", e)
			p.line("call", at, cmp.Or(d.Name, p.unnamed))
			return
		}
		p.answer(e, d, at)
	case *event.Tool:
		if d.Phase == engine.PhaseStart {
			p.begin("tool", e)
			p.line("tool", at, d.Name+" "+OneLine(d.Text, 80))
			return
		}
		p.tools.count(e)
		p.end("result", at, d.Err, p.since("tool", e), d.Name, OneLine(d.Text, 80))
	case *event.Skill:
		p.line("skill", at, d.Name+sureness(d.Confidence), OneLine(d.Text, 80))
	case *event.Knowledge:
		p.tools.count(e)
		p.end("knows", at, d.Err, "", d.Name, OneLine(d.Text, 80))
	case *event.Repair:
		text := strings.TrimSuffix(OneLine(d.Text, 120), " →") // what was left out became nothing
		if last, _, _ := strings.Cut(path.Base(at), "#"); last != d.Name {
			text = d.Name + ": " + text
		}
		p.line("repair", at, text)
	case *event.Budget:
		text := d.Text
		if d.Err != nil {
			text = d.Err.Message
		}
		p.line("budget", at, OneLine(text, 120))
	case *event.History:
		p.line("shorter", at, OneLine(d.Text, 120))
	case *event.Retry:
		p.retry(d, at)
	case *event.Policy:
		p.policy(d, at)
	case *event.Handoff:
		p.line("hand", at, d.From+" to "+d.To, d.Type)
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

// sureness is how sure a model was of its choice.
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
	var sums []string
	if p.calls > 0 {
		sums = append(sums, text.Count(p.calls, "model call"))
		if p.usage != (model.Usage{}) {
			sums = append(sums, tokens(p.usage))
		}
	}
	if p.tools.failed > 0 { // an answer may read well in spite of it
		sums = append(sums, p.tools.String())
	}
	for i := range d.Spent {
		sums = append(sums, "used "+d.Spent[i].Of())
	}
	p.end("done", "run", d.Err, p.since("run", e), sums...)
}

func (p *progress) answer(e engine.Event, d *event.Effect, at string) {
	if e.Attempt > 0 { // else it was refused, and not made
		p.calls++
	}
	parts := []string{cmp.Or(d.Name, p.unnamed)}
	if d.Usage != nil && *d.Usage != (model.Usage{}) {
		p.usage = p.usage.Add(*d.Usage)
		parts = append(parts, tokens(*d.Usage))
	}
	took := p.since("effect", e)
	if d.Replayed {
		took = "recorded"
	}
	p.end("answer", at, d.Err, took, parts...)
}

// retry says what failed and what is done about it.
func (p *progress) retry(d *event.Retry, at string) {
	next := "asks " + d.To
	if d.To == d.From {
		next = "again in " + duration(d.Wait)
	}
	why := ""
	if d.Err != nil {
		why = OneLine(d.Err.Message, 120)
	}
	p.line("retry", at, next, why)
}

// policy says what was decided about a call.
func (p *progress) policy(d *event.Policy, at string) {
	text := d.Text
	if d.Err != nil {
		text += ": " + cmp.Or(d.Err.Help, d.Err.Message)
	}
	word := "policy"
	if d.Phase == engine.PhaseStart {
		word = "ask"
	}
	p.line(word, at, d.Name, OneLine(text, 120))
}

// end writes what something came to and how long it took.
func (p *progress) end(word, at string, err *engine.Error, took string, parts ...string) {
	if err != nil {
		word = "failed"
		parts = append(parts, string(err.Code))
	}
	p.line(word, at, append([]string{took}, parts...)...)
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
	return duration(e.At.Sub(start))
}

var wordColors = map[string]string{"done": "32", "answer": "32", "result": "32", "failed": "31", "repair": "33", "budget": "33", "retry": "33"}

// line writes one line; a stderr that is gone must not end the run.
func (p *progress) line(word, at string, parts ...string) {
	padded := fmt.Sprintf("%-6s", word)
	if p.color {
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
	_, _ = fmt.Fprintln(p.w, padded, all)
}

func tokens(u model.Usage) string {
	about := ""
	if u.Estimated {
		about = "about "
	}
	return fmt.Sprintf("%s%d+%d tokens", about, u.In, u.Out) + money(u)
}

// money is what calls cost. Of calls without a known price it says so
// only beside others that have one: where none has, there is nothing to sum up.
func money(u model.Usage) string {
	if u.CostUSD == 0 {
		return ""
	}
	if u.Unpriced > 0 {
		return fmt.Sprintf(", $%s and %s without a known price", Amount(u.CostUSD), text.Count(u.Unpriced, "call"))
	}
	return ", $" + Amount(u.CostUSD)
}

// Amount is money to the cent, or to two digits that count.
func Amount(usd float64) string {
	digits := 2
	if usd > 0 && usd < 1 {
		digits = 1 - int(math.Floor(math.Log10(usd)))
	}
	return strconv.FormatFloat(usd, 'f', digits, 64)
}

// duration gives a time to three digits or so: 0.4ms, 12ms, 1.3s, 2m03s.
func duration(d time.Duration) string {
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

// OneLine makes a text one short line.
func OneLine(s string, most int) string {
	return text.ClipMiddle(strings.Join(strings.Fields(s), " "), most)
}
