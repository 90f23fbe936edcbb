package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/model"
)

// missing returns the error of a call that no row answers. It names the nearest row and the difference.
func (r *Replayer) missing(asked *row) *engine.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s does not hold this %s", r.name, asked.what())
	again := "record the calls again with --record, or undo what changed"
	if same := r.byKey[asked.Key]; len(same) > 0 {
		e.Message = fmt.Sprintf("%s holds this %s %d times, and it is made once more", r.name, asked.what(), len(same))
		return e.WithHelp("%s", again)
	}
	mine := partsOf(asked)
	var nearest *row
	var theirs []part
	best := -1.0
	for _, row := range r.rows {
		if row.Kind != asked.Kind {
			continue
		}
		parts := partsOf(row)
		if score := alike(mine, parts, row, asked); score > best {
			nearest, theirs, best = row, parts, score
		}
	}
	switch {
	case len(r.rows) == 0:
		return e.WithHelp("the record is empty: %s", again)
	case nearest == nil:
		e.Notes = append(e.Notes, "it holds nothing of this kind")
		return e.WithHelp("%s", again)
	}
	that := "call is that of agent " + strconv.Quote(nearest.Agent)
	if nearest.Kind != engine.EffectModel {
		that = "one is " + nearest.what()
	}
	what, was, is := difference(theirs, mine)
	e.Notes = append(e.Notes, fmt.Sprintf("the nearest recorded %s in %s %d; it differs in %s", that, r.lines, nearest.line, what),
		"recorded: "+r.redact(was), "asked:    "+r.redact(is))
	return e.WithHelp("%s", again)
}

// part is a named piece of a request.
type part struct{ name, text string }

// partsOf splits a request, in the order in which people look at its parts.
func partsOf(r *row) []part {
	if r.Kind != engine.EffectModel {
		return r.effectParts()
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(r.Request, &fields) != nil {
		return []part{{"the request", string(r.Request)}}
	}
	var parts []part
	add := func(name string, raw json.RawMessage) {
		if raw != nil {
			parts = append(parts, part{name, plain(raw)})
		}
	}
	for _, key := range []string{"model", "fallbacks", "system"} {
		add(titles[key], fields[key])
	}
	var messages []struct {
		Role  string            `json:"role"`
		Parts []json.RawMessage `json:"parts"`
	}
	_ = json.Unmarshal(fields["messages"], &messages) // anything but a list has no parts to compare
	for i, m := range messages {
		var texts []string
		for _, p := range m.Parts {
			var text struct {
				Kind, Text string
			}
			if json.Unmarshal(p, &text) == nil && text.Kind == string(model.PartText) {
				texts = append(texts, text.Text)
			} else {
				texts = append(texts, plain(p))
			}
		}
		parts = append(parts, part{fmt.Sprintf("message %d (%s)", i+1, m.Role), strings.Join(texts, "\n")})
	}
	for _, key := range []string{"tools", "choice", "output", "structured", "params"} {
		add(titles[key], fields[key])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Types)) {
		parts = append(parts, part{"the schema of the " + name, r.Types[name]})
	}
	return parts
}

var titles = map[string]string{"model": "the model", "fallbacks": "the models to fall back to", "system": "the system text", "tools": "the tools",
	"choice": "the choice of tools", "output": "the output type", "structured": "the tier of structured output", "params": "the parameters"}

// textsOf returns the texts of parts by name.
func textsOf(parts []part) map[string]string {
	texts := make(map[string]string, len(parts))
	for _, p := range parts {
		texts[p.name] = p.text
	}
	return texts
}

// plain returns the text of a JSON string, and other JSON in compact form.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// alike returns a score of how near two requests are: a point for each equal part, and less for a part that begins or
// ends the same way. A row of the same agent, at the same position, or not used yet is nearer.
func alike(mine, theirs []part, was, asked *row) float64 {
	score := 0.0
	have := textsOf(theirs)
	for _, p := range mine {
		text, ok := have[p.name]
		switch longest := max(len(text), len(p.text)); {
		case !ok:
		case text == p.text:
			score++
		case longest > 0:
			head := prefix(text, p.text)
			tail := prefix(reversed(text[head:]), reversed(p.text[head:]))
			score += 0.9 * float64(head+tail) / float64(longest)
		}
	}
	score -= 0.5 * float64(max(len(theirs)-len(mine), 0))
	if was.Agent == asked.Agent {
		score += 0.5
	}
	if journal.Position(was.ID) == journal.Position(asked.ID) {
		score += 0.25
	}
	if !was.used {
		score += 0.25
	}
	return max(score, 0)
}

func prefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// difference returns the first part in which two requests differ, and its text in each of them.
func difference(was, is []part) (what, before, now string) {
	have := textsOf(was)
	for _, p := range is {
		old, ok := have[p.name]
		if !ok {
			return p.name, "(nothing)", excerpt(p.text, 0)
		}
		if old != p.text {
			at := prefix(old, p.text)
			return p.name, excerpt(old, at), excerpt(p.text, at)
		}
		delete(have, p.name)
	}
	for _, p := range was {
		if _, left := have[p.name]; left {
			return p.name, excerpt(p.text, 0), "(nothing)"
		}
	}
	return "what a hash holds and the record does not show", "", ""
}

// excerpt returns the surroundings of a position in a text, in one line.
func excerpt(s string, at int) string {
	const before, after = 30, 90
	from, to := max(at-before, 0), min(at+after, len(s))
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	out := strings.Join(strings.Fields(s[from:to]), " ")
	if from > 0 {
		out = "…" + out
	}
	if to < len(s) {
		out += "…"
	}
	return fmt.Sprintf("%q", out)
}
