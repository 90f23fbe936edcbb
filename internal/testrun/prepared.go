package testrun

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
)

// prepared is an answer of a test to something other than a model, which must be used.
type prepared struct {
	what string
	at   diag.Pos // where the test prepares it
	used bool
}

// prepare takes down an answer. The caller holds mu.
func (w *world) prepare(at diag.Pos, format string, args ...any) *prepared {
	p := &prepared{what: fmt.Sprintf(format, args...), at: at}
	w.prepared = append(w.prepared, p)
	return p
}

// queue holds what answers in order; the last one answers again.
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

// queued returns the queue of a name, which begins with the first call for it.
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

// serve makes the list of a server's tools.
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

// stranger is an agent that a test answers and no file has: the run may make it.
type stranger struct {
	name string
	none *engine.Error // of one that the run did not make
}

// shownLeft is how many of the answers that are left over a report shows.
const shownLeft = 10

// unused is the failure of what was prepared since the test began and is left over.
func (c *testCase) unused() *engine.Error {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	for _, s := range c.strangers {
		if !slices.ContainsFunc(c.calls, func(made *call) bool { return made.kind == engine.EffectModel && made.name == s.name }) {
			return s.none
		}
	}
	var left []prepared
	var notes []string
	for _, row := range c.answers.UnusedSince(c.mark) {
		left = append(left, prepared{what: fmt.Sprintf("an answer for agent %q", row.Agent), at: row.At})
		note := ""
		if at, ok := c.answers.Instead(row); ok {
			note = fmt.Sprintf("the answer at %s, which is for any number of calls, was used instead: prepare it after this one", at)
		}
		notes = append(notes, note)
	}
	for _, p := range c.prepared[c.preparedBefore:] {
		if !p.used && !c.cut {
			left, notes = append(left, *p), append(notes, "")
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
	for i, p := range left {
		if i == shownLeft {
			err.Notes = append(err.Notes, fmt.Sprintf("and %d more", len(left)-i))
			break
		}
		if i > 0 {
			err.Notes = append(err.Notes, fmt.Sprintf("%s at %s", p.what, p.at))
		}
		if notes[i] != "" {
			err.Notes = append(err.Notes, notes[i])
		}
	}
	return err
}
