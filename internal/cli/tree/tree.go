package tree

import (
	"io"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/term"
)

const (
	// Beat is the least time between two frames.
	Beat = 50 * time.Millisecond
	idle = 500 * time.Millisecond // without events: only the times change
)

// Options set how a tree is drawn.
type Options struct {
	Out      io.Writer
	Size     func() (width, height int) // size of the terminal, queried for each frame
	Now      func() time.Time
	Color    bool
	Answered string        // what answers instead of models, for example "scripted"
	Limits   engine.Limits // limits of the run
	Trace    string        // the file that receives the run's events, if there is one
	Keys     bool          // a person may press keys
}

// Tree is a run at a terminal. Its methods must not be called concurrently.
type Tree struct {
	Options
	state  *state
	screen screen
	above  strings.Builder // lines above the frame that are not written yet
	notes  term.Sink       // writes what no line of the tree shows

	beat          time.Time // time of the last frame, by the caller's clock
	heard         time.Time // time of the last event
	width, height int       // size at the last frame
	changed       bool
	hidden        bool // something else uses the terminal
	held          bool // a person has paused drawing
	closed        bool
	pressed       bool // a key requests a frame
	selected      *node
	events        []engine.Event // for a trace, while a person may request one
	dropped       int            // events that are no longer kept
}

// New returns the tree of a run that is about to begin.
func New(o Options) *Tree {
	t := &Tree{Options: o, state: newState(o.Answered), screen: screen{w: o.Out}}
	t.notes = term.NewProgress(&t.above, term.ProgressStyle{Notes: true, Color: o.Color})
	return t
}

// Kinds returns the kinds of events that a tree needs.
func (t *Tree) Kinds() engine.EventKind {
	return engine.EventAll &^ (engine.EventToken | engine.EventPartial)
}

// Event handles an event of the run. Nothing is drawn before the next [Tree.Tick].
func (t *Tree) Event(e engine.Event) {
	t.keep(e)
	t.state.add(e)
	t.notes.Event(e)
	t.changed, t.heard = true, t.Now()
}

// Tick draws a frame if something has changed and the last frame is old enough.
func (t *Tree) Tick() {
	now := t.Now()
	if t.hidden || t.closed || now.Sub(t.beat) < Beat {
		return
	}
	width, height := t.Size()
	due := t.pressed || width != t.width || height != t.height
	if due || !t.held && (t.changed || now.Sub(t.beat) >= idle) {
		t.draw(now, width, height)
	}
}

// draw writes lines that stay, and a frame.
func (t *Tree) draw(now time.Time, width, height int) {
	t.beat, t.width, t.height = now, width, height
	t.changed, t.pressed = false, false
	v := t.view(now, width)
	t.state.pass(v.now)
	hint := ""
	switch {
	case t.held:
		hint = "held: p continues"
	case t.Keys:
		hint = "↑↓⏎ t p"
	}
	t.screen.draw(t.stays(), t.state.frame(v, height, t.Limits, hint), width)
}

// view returns how rows are rendered now, in the time of the run, which begins with the first event and continues from
// the last one.
func (t *Tree) view(now time.Time, width int) *view {
	since := time.Duration(0)
	if !t.heard.IsZero() {
		since = max(0, now.Sub(t.heard))
	}
	return &view{width: width - 1, now: t.state.last.Add(since), color: t.Color, selected: t.selected}
}

// stays returns what to write above the frame.
func (t *Tree) stays() string {
	s := t.above.String()
	t.above.Reset()
	return s
}

// Hide removes the frame from the terminal, which others use until [Tree.Show].
func (t *Tree) Hide() {
	t.screen.erase()
	t.hidden = true
	if s := t.stays(); s != "" {
		_, _ = io.WriteString(t.Out, s)
	}
}

// Show draws the tree again.
func (t *Tree) Show() { t.hidden, t.changed = false, true }

// Close removes the frame from the terminal and leaves a summary there.
func (t *Tree) Close() {
	if t.closed {
		return
	}
	t.Hide()
	t.closed = true
	width, _ := t.Size()
	if width <= 0 { // the terminal is closed
		width = 80
	}
	t.selected = nil
	for _, l := range t.state.summary(t.view(t.Now(), width), t.Limits, t.Trace) {
		_, _ = io.WriteString(t.Out, l+"\n")
	}
}
