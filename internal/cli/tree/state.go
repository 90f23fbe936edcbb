package tree

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// status is the state of a node.
type status uint8

const (
	running status = iota
	waiting        // for a person, or until a call is repeated
	done
	failed
	stopped // cancelled or skipped
	statuses
)

// keptNodes bounds the nodes without failures that are kept to be shown and, for each node, the children that failed;
// further ones are counted.
const keptNodes = 5000

// node is a node of the run, or a tool call.
type node struct {
	path, name string
	index      string // index of a branch, such as [3]: shown if siblings have the same name
	tool       bool
	up         *node
	depth      int // 1 for the nodes that the run starts itself
	order      int // order in which nodes began
	status     status
	began      time.Time
	ended      time.Time // zero while it runs
	model      string    // the model it called last
	usage      model.Usage
	attempt    int
	asking     int       // questions to people, in tool calls or its own
	again      time.Time // when a failed call is repeated
	note       string    // what it is waiting for
	err        *engine.Error

	live          list          // children that have not ended, in the order in which they began
	bad, good     []*node       // children that have ended, in that order: those containing a failed node, and the others
	count         [statuses]int // numbers of children
	tools         int           // children that are tool calls
	items         int           // the expected number of children, if it is known
	first         string        // the name of the first child
	alike, others bool          // further children have the same name, or different ones
	opened        bool          // a person has expanded it to show all children
	closed        bool          // or collapsed it

	prev, next *node // in the parent's list of children that have not ended
}

// list is a list of nodes with removal in constant time.
type list struct{ head, tail *node }

func (l *list) push(n *node) {
	if n.prev = l.tail; n.prev == nil {
		l.head = n
	} else {
		n.prev.next = n
	}
	l.tail = n
}

func (l *list) remove(n *node) {
	if n.prev == nil {
		l.head = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.tail = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
}

// state is what is known about a run.
type state struct {
	root     *node            // the run
	nodes    map[string]*node // nodes that have not ended, by position
	begun    int              // number of nodes made
	kept     int              // number of kept nodes without failures
	answered string           // what answers instead of models
	calls    int              // model calls
	tools    int              // tool calls
	failures []failure
	failed   int    // number of failures
	lastBad  string // the position of the last failure
	servers  map[string]bool
	budget   *event.BudgetChange // the last change that was reported
	last     time.Time           // time of the last event, in the run's time
	retrying map[*node]bool      // nodes waiting until a call is repeated
}

// failure is a node or a tool that failed, without a failure below it.
type failure struct{ at, why string }

// keptFailures bounds the failures that are kept to be shown.
const keptFailures = 5

func newState(answered string) *state {
	root := &node{path: "main"}
	return &state{root: root, nodes: map[string]*node{}, answered: answered, servers: map[string]bool{}, retrying: map[*node]bool{}}
}

// add handles an event.
func (s *state) add(e engine.Event) {
	if e.At.After(s.last) {
		s.last = e.At
	}
	switch d := e.Data.(type) {
	case *event.Run:
		if d.Phase == engine.PhaseStart {
			s.root.began = e.At
			return
		}
		s.finish(s.root, e.At, endOf(engine.StatusOK, d.Err), d.Err)
	case *event.Node:
		if d.Phase == engine.PhaseStart {
			s.start(e, d.Name).items = d.Items
		} else if n := s.nodes[e.Path]; n != nil {
			s.end(n, e.At, endOf(d.Status, d.Err), d.Err)
		}
	case *event.Tool:
		s.tool(e, d)
	case *event.Effect:
		s.effect(e, d)
	case *event.Retry:
		n := s.at(e.Path)
		n.attempt = e.Attempt + 1
		if d.Wait > 0 {
			n.again = e.At.Add(d.Wait)
			n.note = "asks again in " + term.Duration(d.Wait)
			s.retrying[n] = true
			s.settle(n, e.At)
		}
	case *event.Policy:
		n := s.at(e.Path)
		if d.Phase == engine.PhaseStart {
			n.asking++
			n.note = "asks about " + d.Name
		} else {
			n.asking = max(0, n.asking-1)
		}
		s.settle(n, e.At)
	case *event.Budget:
		if d.Change != nil {
			s.budget = d.Change
		}
	}
}

// endOf returns the status of a node that has ended.
func endOf(as engine.Status, err *engine.Error) status {
	switch {
	case as == engine.StatusCancelled, as == engine.StatusSkipped, err != nil && err.Kind == engine.KindCancelled:
		return stopped
	case as == engine.StatusFailed, err != nil:
		return failed
	}
	return done
}

// above returns the node that contains a position.
func (s *state) above(at string) *node {
	for {
		i := strings.LastIndexByte(at, '/')
		if strings.HasSuffix(at, "]") {
			i = max(i, strings.LastIndexByte(at, '['))
		}
		if i <= 0 {
			return s.root
		}
		at = at[:i]
		if n := s.nodes[at]; n != nil {
			return n
		}
	}
}

// at returns the node at a position, or the one that contains it.
func (s *state) at(path string) *node {
	if n := s.nodes[path]; n != nil {
		return n
	}
	return s.above(path)
}

// start begins a node.
func (s *state) start(e engine.Event, name string) *node {
	up := s.above(e.Path)
	s.begun++
	n := &node{path: e.Path, up: up, depth: up.depth + 1, order: s.begun, began: e.At}
	n.name, n.index = named(up.path, e.Path, name)
	s.nodes[e.Path] = n
	up.live.push(n)
	up.count[running]++
	switch {
	case up.first == "":
		up.first = n.name
	case up.first == n.name:
		up.alike = true
	default:
		up.others = true
	}
	return n
}

// named returns the name of a node relative to another one, and its number among those of the same name.
func named(up, at, name string) (string, string) {
	var index string
	rest := strings.TrimPrefix(at, up)
	if strings.HasPrefix(rest, "[") {
		i := strings.IndexByte(rest, ']') + 1
		index, rest = " "+rest[:i], rest[i:]
	}
	_, n, numbered := strings.Cut(path.Base(at), "#")
	if numbered && n != "0" {
		index += " #" + n
	}
	if segs := term.Segments(rest); len(segs) > 1 { // for what is between there is no node, for example a round of a forum
		name = strings.Join(segs[:len(segs)-1], " ") + " " + name
	}
	return line(name, 80), index
}

// line returns a text as one line without control sequences.
func line(s string, most int) string { return text.Terminal(term.OneLine(s, most)) }

// end ends a node and the nodes below it.
func (s *state) end(n *node, at time.Time, as status, err *engine.Error) {
	up := n.up
	up.live.remove(n)
	up.count[n.status]--
	s.finish(n, at, as, err)
	up.count[as]++
	delete(s.nodes, n.path)
	if as == failed && !n.tool || len(n.bad) > 0 {
		if len(up.bad) == keptNodes {
			up.bad = slices.Delete(up.bad, 0, keptNodes/2)
		}
		up.bad = append(up.bad, n)
	} else if s.kept < keptNodes {
		s.kept++
		up.good = append(up.good, n)
	}
}

// finish ends a node alone.
func (s *state) finish(n *node, at time.Time, as status, err *engine.Error) {
	for k := n.live.head; k != nil; k = n.live.head {
		s.end(k, at, stopped, nil)
	}
	n.ended, n.status, n.err, n.note = at, as, err, ""
	if as != failed || n == s.root {
		return
	}
	// A node fails because one below it did: the deepest one says why.
	if rest, ok := strings.CutPrefix(s.lastBad, n.path); !ok || rest == "" || rest[0] != '/' && rest[0] != '[' {
		s.failed++
		if len(s.failures) < keptFailures {
			why := "failed"
			if err != nil {
				why = err.Message
				if err.Code != "" {
					why += " (" + string(err.Code) + ")"
				}
				if err.Pos.IsValid() {
					why += " at " + err.Pos.String()
				}
			}
			at := term.ProgressPath(n.path)
			if n.tool {
				at += "/" + n.name
			}
			s.failures = append(s.failures, failure{line(at, 100), line(why, 300)})
		}
	}
	s.lastBad = n.path
}

// tool handles an event of a tool call, which is a node below the agent's.
func (s *state) tool(e engine.Event, d *event.Tool) {
	switch d.Phase {
	case engine.PhaseStart:
		n := s.start(e, d.Name)
		n.tool = true
		n.up.tools++
	case engine.PhaseEnd:
		s.tools++
		if n := s.nodes[e.Path]; n != nil && n.tool {
			as := endOf(engine.StatusOK, d.Err)
			if d.Err != nil && d.Err.Kind == engine.KindPolicy {
				as = stopped
			}
			s.end(n, e.At, as, d.Err)
		}
	}
}

// effect handles an event of an effect; for models, which one is called and what that used.
func (s *state) effect(e engine.Event, d *event.Effect) {
	n := s.above(e.Path)
	if _, ok := d.Request.(*remote.ListRequest); ok && !d.Replayed && !s.servers[d.Name] {
		s.servers[d.Name] = true
		n.note = "connects to " + d.Name
	}
	if !strings.HasPrefix(path.Base(e.Path), "llm") {
		if r, ok := d.Request.(*engine.SleepRequest); ok {
			n.note = "sleeps for " + term.Duration(r.For)
		} else if strings.HasPrefix(path.Base(e.Path), "sleep") {
			n.note = ""
		}
		return
	}
	n.note = ""
	if n.model = d.Name; s.answered != "" {
		n.model = s.answered
	}
	n.model = line(n.model, 60)
	if d.Phase == engine.PhaseStart {
		return
	}
	n.again = time.Time{}
	s.settle(n, e.At)
	if e.Attempt > 0 {
		s.calls++
	}
	if d.Usage != nil && e.Attempt > 0 {
		for ; n != nil; n = n.up {
			n.usage = n.usage.Add(*d.Usage)
		}
	}
}

// settle sets whether a node that has not ended is waiting.
func (s *state) settle(n *node, now time.Time) {
	as := running
	if n.asking > 0 || now.Before(n.again) {
		as = waiting
	}
	if n.status > waiting || n.status == as || n == s.root {
		return
	}
	n.up.count[n.status]--
	n.up.count[as]++
	if n.status = as; as == running {
		n.note = ""
	}
}

// pass lets the nodes continue whose wait is over.
func (s *state) pass(now time.Time) {
	for n := range s.retrying {
		if !now.Before(n.again) || n.status > waiting {
			delete(s.retrying, n)
			s.settle(n, now)
		}
	}
}
