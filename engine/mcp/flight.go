package mcp

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/text"
)

// flights are the calls in flight in a session, and what their runs know about its tools.
type flights struct {
	mu   sync.Mutex
	n    int
	open []*flight        // oldest first
	told map[string]int64 // the number of tool changes that each run was notified of
}

// flight is one call in flight.
type flight struct {
	token string // by which the server refers to it
	run   string
	agent string
	id    string
	at    *engine.Frame
	sink  engine.Sink

	mu    sync.Mutex
	over  bool
	usage model.Usage // of model calls that the server requested
}

func (f *flights) begin(e *engine.Effect, sink engine.Sink) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	x := &flight{token: "call-" + strconv.Itoa(f.n), run: e.Run, agent: e.Agent, id: e.ID(), at: e.At, sink: sink}
	f.open = append(f.open, x)
	return x
}

func (f *flights) end(x *flight) {
	x.mu.Lock()
	x.over = true
	x.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = slices.DeleteFunc(f.open, func(o *flight) bool { return o == x })
}

// of returns the flight with a token, nil if it has ended.
func (f *flights) of(token any) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.open, func(o *flight) bool { return o.token == token }); i >= 0 {
		return f.open[i]
	}
	return nil
}

// oldest returns the call during which a server asks something. The protocol does not say which one it is, so of
// several it is the one that has waited longest.
func (f *flights) oldest() *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.open) == 0 {
		return nil
	}
	return f.open[0]
}

// tell passes on a server's message during the call.
func (x *flight) tell(t string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || x.sink == nil {
		return
	}
	x.sink(engine.Token{Attempt: 1, Notice: text.Brief(t)})
}

// progressText describes the progress of a call.
func progressText(done, total float64, message string) string {
	text := strconv.FormatFloat(done, 'g', -1, 64)
	if total > 0 {
		text += " of " + strconv.FormatFloat(total, 'g', -1, 64)
	}
	if message != "" {
		text += ": " + message
	}
	return text
}

func (x *flight) spend(u model.Usage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.usage = x.usage.Add(u)
}

func (x *flight) used() model.Usage {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.usage
}

const maxToldRuns = 1000

// listed records how many changes a run's list of the tools includes.
func (f *flights) listed(run string, changes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told == nil || len(f.told) > maxToldRuns {
		f.told = map[string]int64{}
	}
	f.told[run] = changes
}

// tellChanges notifies a run, once for each change, that the server's tools differ from its list.
func (x *session) tellChanges(run string, f *flight) {
	n := x.changes.Load()
	if n == 0 {
		return
	}
	x.flights.mu.Lock()
	known, listed := x.flights.told[run]
	x.flights.mu.Unlock()
	if listed && known < n { // otherwise its list was recorded and belongs to another session
		x.flights.listed(run, n)
		f.tell(fmt.Sprintf("MCP server %s has changed its list of tools; this call of the agent keeps the one that it began with", x.server.spec.Name))
	}
}
