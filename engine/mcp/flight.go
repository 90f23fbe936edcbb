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

// flights are the calls that a session has in flight, and what their runs know of its tools.
type flights struct {
	mu   sync.Mutex
	n    int
	open []*flight        // oldest first
	told map[string]int64 // how many changes of the tools each run was notified of
}

// flight is one call in flight.
type flight struct {
	token string // by which the server speaks of it
	run   string
	agent string
	id    string
	at    *engine.Frame
	sink  engine.Sink

	mu    sync.Mutex
	over  bool
	usage model.Usage // of models that the server had asked
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

// of is the flight of a token, nil when it has landed.
func (f *flights) of(token any) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.open, func(o *flight) bool { return o.token == token }); i >= 0 {
		return f.open[i]
	}
	return nil
}

// oldest is the call on whose behalf a server asks something: the protocol does not say which, so
// that of several it is the one that waits longest.
func (f *flights) oldest() *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.open) == 0 {
		return nil
	}
	return f.open[0]
}

// tell passes on what the server says while the call runs.
func (x *flight) tell(t string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || x.sink == nil {
		return
	}
	x.sink(engine.Token{Attempt: 1, Notice: text.Brief(t)})
}

// progressText is how far a call has come.
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

// listed notes how many changes a run's list of the tools holds.
func (f *flights) listed(run string, changes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told == nil || len(f.told) > maxToldRuns {
		f.told = map[string]int64{}
	}
	f.told[run] = changes
}

// tellChanges notifies a run, once for each change, that the server's tools are not what it listed.
func (x *session) tellChanges(run string, f *flight) {
	n := x.changes.Load()
	if n == 0 {
		return
	}
	x.flights.mu.Lock()
	known, listed := x.flights.told[run]
	x.flights.mu.Unlock()
	if listed && known < n { // else its list was recorded, and of another session
		x.flights.listed(run, n)
		f.tell(fmt.Sprintf("MCP server %s has changed its list of tools; this call of the agent keeps the one that it began with", x.server.spec.Name))
	}
}
