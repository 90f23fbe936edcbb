package testrun

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// prepared is a test's answer to something other than a model, which must be used.
type prepared struct {
	what string
	at   diag.Pos // where the test prepared it
	used bool
}

// prepare records an answer. The caller holds mu.
func (w *world) prepare(at diag.Pos, format string, args ...any) *prepared {
	p := &prepared{what: fmt.Sprintf(format, args...), at: at}
	w.prepared = append(w.prepared, p)
	return p
}

// queue holds answers in order; the last one answers repeatedly.
type queue[T any] struct {
	items []item[T]
	next  int
}

type item[T any] struct {
	value T
	*prepared
}

func (q *queue[T]) add(v T, p *prepared) { q.items = append(q.items, item[T]{v, p}) }

func (q *queue[T]) take() T {
	n := min(q.next, len(q.items)-1)
	q.next = n + 1
	q.items[n].used = true
	return q.items[n].value
}

// queued returns the queue with a name, creating it on the first call.
func queued[T any](all map[string]*queue[T], name string) *queue[T] {
	q := all[name]
	if q == nil {
		q = &queue[T]{}
		all[name] = q
	}
	return q
}

// served is what a server lists.
type served struct {
	tools generable.Value
	*prepared
}

// serve returns the list of a server's tools.
func serve(tools []double.Served) generable.Value {
	var list []remote.Tool
	for _, t := range tools {
		list = append(list, remote.Tool{Name: t.Name, Description: t.Doc, Input: t.Params.JSONSchema()})
	}
	return remote.EncodeTools(list)
}

// listed returns the list of a server that the test serves.
func (w *world) listed(server string) (tools generable.Value, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.served[server]
	if ok {
		s.used = true
	}
	return s.tools, ok
}

// stranger is an agent that a test answers and no file declares: the run may create it.
type stranger struct {
	name string
	none *engine.Error // the error if the run does not create it
}

// The bounds on the kinds of unused answers in a report, and on the positions of each.
const (
	shownLeft   = 3
	shownPlaces = 3
)

// unused returns the failure for unused answers prepared since the test began.
func (c *testCase) unused() *engine.Error {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	for _, s := range c.strangers {
		if !slices.ContainsFunc(c.calls[c.from.calls:], func(made *call) bool { return made.kind == engine.EffectModel && made.name == s.name }) {
			return s.none
		}
	}
	var left []prepared
	var instead string // the first answer that was used instead of an unused one
	for _, row := range c.answers.UnusedSince(c.from.answers) {
		left = append(left, prepared{what: fmt.Sprintf("an answer for agent %q", row.Agent), at: row.At})
		if at, ok := c.answers.Instead(row); ok && instead == "" {
			instead = fmt.Sprintf("the answer at %s, which is for any number of calls, was used instead: prepare it after this one", at)
		}
	}
	for _, p := range c.prepared[c.from.prepared:] {
		if !p.used && !c.cut {
			left = append(left, *p)
		}
	}
	if len(left) == 0 {
		return nil
	}
	err := engine.Errorf(engine.KindTest, diag.UnusedAnswer, "%d of the answers that the test prepares were not used", len(left)).
		WithHelp("leave them out, or find out why the calls are not made; t.on(...), and a function for t.tool(...), may be left over")
	if len(left) == 1 {
		err.Message = left[0].what + " was not used"
	}
	err.Pos = left[0].at
	if len(left) > 1 {
		err.Notes = listed(left)
	}
	if instead != "" {
		err.Notes = append(err.Notes, instead)
	}
	return err
}

// listed lists what was not used and where it was prepared, with one line for similar ones.
func listed(left []prepared) []string {
	var lines []string
	for i, p := range left {
		if slices.ContainsFunc(left[:i], func(q prepared) bool { return q.what == p.what }) {
			continue
		}
		var at []string
		times := map[string]int{}
		for _, q := range left[i:] {
			place := q.at.String()
			if q.what != p.what {
				continue
			}
			if times[place]++; times[place] == 1 {
				at = append(at, place)
			}
		}
		for i, place := range at {
			if n := times[place]; n > 1 {
				at[i] = fmt.Sprintf("%s (%d times)", place, n)
			}
		}
		if n := len(at) - shownPlaces; n > 1 {
			at = append(at[:shownPlaces], text.Count(n, "more place"))
		}
		lines = append(lines, fmt.Sprintf("%s at %s", p.what, strings.Join(at, ", ")))
	}
	if n := len(lines) - shownLeft; n > 1 {
		lines = append(lines[:shownLeft], fmt.Sprintf("and %d other things", n))
	}
	return lines
}

// mark is the state of a world when a test inside another began.
type mark struct {
	answers, prepared, calls, events int
	tools, decisions                 map[string]int // their numbers, by name
	served                           map[string]served
	replayed                         *cassette.Replayer
	began                            time.Time
	cut                              bool
}

// mark returns the current state of the world. The caller holds mu.
func (w *world) mark() mark {
	m := mark{answers: w.answers.Len(), prepared: len(w.prepared), calls: len(w.calls), events: len(w.journal.all()),
		tools: lengths(w.tools), decisions: lengths(w.decisions), served: maps.Clone(w.served), replayed: w.replayed, began: w.began, cut: w.cut}
	w.cut = false
	return m
}

// backTo drops what was prepared since a mark, so that it answers no later test. The caller holds mu.
func (w *world) backTo(m mark) {
	w.answers.Withdraw(m.answers)
	w.prepared = w.prepared[:m.prepared]
	shorten(w.tools, m.tools)
	shorten(w.decisions, m.decisions)
	w.served, w.replayed, w.began, w.cut = m.served, m.replayed, m.began, w.cut || m.cut
}

// turnTo makes a test the innermost running one. The caller holds mu.
func (w *world) turnTo(c *testCase) {
	if w.took != nil {
		w.took(w.inside.name)
	}
	w.inside = c
}

func lengths[T any](all map[string]*queue[T]) map[string]int {
	n := make(map[string]int, len(all))
	for name, q := range all {
		n[name] = len(q.items)
	}
	return n
}

func shorten[T any](all map[string]*queue[T], to map[string]int) {
	for name, q := range all {
		n := to[name]
		if n == 0 {
			delete(all, name)
			continue
		}
		q.items, q.next = q.items[:n], min(q.next, n)
	}
}
