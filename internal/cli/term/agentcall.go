package term

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/text"
)

// agentCall is the state of one call of an agent, whose line is written when the call ends.
type agentCall struct {
	sums     tally
	models   []string // that have answered, each once
	replayed bool
	repairs  repairs
}

// repairs counts the kinds of repairs of an answer.
type repairs struct {
	at    string
	kinds []string
	count map[string]int
	texts []string // texts of the most recent kind
	last  string   // its name
}

func (r *repairs) add(d *event.Repair) {
	kind := d.Name
	if what, _, asked := strings.Cut(d.Text, ": "); asked && what == "asked again" {
		kind = what
	}
	if r.count == nil {
		r.count = map[string]int{}
	}
	if r.count[kind]++; r.count[kind] == 1 {
		r.kinds = append(r.kinds, kind)
	}
	r.last = d.Name
	r.texts = append(r.texts, strings.TrimSuffix(OneLine(d.Text, 120), " →")) // what was dropped has no replacement
}

// String lists the kinds: "fence, unquoted ×11".
func (r *repairs) String() string {
	return strings.Join(text.Each(r.kinds, func(kind string) string {
		if n := r.count[kind]; n > 1 {
			return fmt.Sprintf("%s ×%d", kind, n)
		}
		return kind
	}), ", ")
}

// tellRepairs writes the repairs of the most recent kind as one line.
func (p *progress) tellRepairs() {
	r := p.repairs
	if p.repairs = nil; r == nil {
		return
	}
	said := r.texts[0]
	if last, _, _ := strings.Cut(path.Base(r.at), "#"); last != r.last {
		said = r.last + ": " + said
	}
	if n := len(r.texts); n > 1 {
		said = OneLine(fmt.Sprintf("%s ×%d: %s", r.last, n, strings.Join(r.texts, ", ")), 120)
	}
	p.line("repair", r.at, said)
}

// isAgent reports whether a position is a call of an agent.
func isAgent(at string) bool { return strings.HasPrefix(path.Base(at), "agent:") }

// around reports whether a position is above another one.
func around(at, below string) bool {
	rest, ok := strings.CutPrefix(below, at)
	return ok && rest != "" && (rest[0] == '/' || rest[0] == '[')
}

// caller returns the open call of the agent that contains a position, or nil.
func (p *progress) caller(at string) *agentCall {
	for {
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return nil
		}
		if at = at[:i]; isAgent(at) {
			if c := p.agents[at]; c != nil {
				return c
			}
		}
	}
}

// brief records what an agent does for its line, and writes whatever went wrong.
func (p *progress) brief(e engine.Event, at string) {
	switch d := e.Data.(type) {
	case *event.Node:
		if d.Phase == engine.PhaseStart {
			p.begin("node", e)
			if isAgent(e.Path) {
				p.agents[e.Path] = &agentCall{}
			}
			return
		}
		took := p.since("node", e)
		if c := p.agents[e.Path]; c != nil {
			delete(p.agents, e.Path)
			p.end(ended(d), at, d.Err, took, c.parts(p)...)
		} else if d.Status == engine.StatusFailed && !around(e.Path, p.failed) { // a race or a fallback may continue without it
			p.end("failed", at, d.Err, took)
		}
		if d.Status == engine.StatusFailed {
			p.failed = e.Path
		}
	case *event.Effect:
		p.connects(e, d)
		if isModelCall(e.Path) {
			p.asked(e, d)
		}
	case *event.Repair:
		if c := p.caller(e.Path + "/"); c != nil {
			c.repairs.add(d)
		}
	case *event.Tool:
		if d.Phase != engine.PhaseEnd {
			return
		}
		if c := p.caller(e.Path); c != nil {
			c.sums.count(e)
		}
		if d.Err != nil && d.Err.Kind != engine.KindPolicy && d.Err.Kind != engine.KindCancelled { // another line reports that
			p.toolEnd("result", at, "", d)
		}
	case *event.Knowledge:
		if d.Err != nil {
			p.toolEnd("knows", at, "", (*event.Tool)(d))
		}
	}
}

// asked records the subject of a call of a model.
func (p *progress) asked(e engine.Event, d *event.Effect) {
	if d.Phase == engine.PhaseStart {
		p.asking = append(p.asking, e.Path+"  "+p.model(d.Name))
		p.await()
		return
	}
	p.asking = slices.DeleteFunc(p.asking, func(a string) bool { return strings.HasPrefix(a, e.Path+"  ") })
	c := p.caller(e.Path)
	if c == nil {
		return
	}
	c.sums.count(e)
	if name := p.model(d.Name); !slices.Contains(c.models, name) {
		c.models = append(c.models, name)
	}
	c.replayed = c.replayed || d.Replayed
}

// parts returns what the line of an agent's call says.
func (c *agentCall) parts(p *progress) []string {
	if c == nil {
		return nil
	}
	var parts []string
	add := func(is bool, part string) {
		if is {
			parts = append(parts, part)
		}
	}
	add(c.replayed, "recorded")
	add(len(c.models) > 0, strings.Join(c.models, ", "))
	add(c.sums.calls > 1, text.Count(c.sums.calls, "call"))
	add(c.sums.usage != (model.Usage{}), tokens(c.sums.usage))
	tools := c.sums.tools.String()
	if tools == "" {
		tools = text.Count(c.sums.tools.ended, "tool call")
	}
	add(c.sums.tools.ended > 0, tools)
	add(len(c.repairs.kinds) > 0, "repaired: "+c.repairs.String())
	return parts
}

// await shows at a terminal which model is awaited, in a line that the next line replaces.
func (p *progress) await() {
	if !p.style.Color || p.style.Verbose || len(p.asking) == 0 {
		return
	}
	p.Clear()
	last := p.asking[len(p.asking)-1]
	at, model, _ := strings.Cut(last, "  ")
	said := "asks   " + ProgressPath(at) + "  " + model
	if n := len(p.asking); n > 1 {
		said += fmt.Sprintf("  and %d more", n-1)
	}
	if said = text.Terminal(text.ClipWords(said, awaited)); utf8.RuneCountInString(said) > awaited {
		return // a wrapped line could not be removed
	}
	p.waiting = true
	_, _ = fmt.Fprintf(p.w, "\x1b[2m%s\x1b[0m", said)
}

// awaited bounds the length of the line about what is awaited, so that a terminal does not wrap it.
const awaited = 70

// Clear removes the line about what is awaited.
func (p *progress) Clear() {
	if p.waiting {
		p.waiting = false
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
