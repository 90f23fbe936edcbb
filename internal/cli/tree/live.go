package tree

import (
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Live is a tree that draws itself and reads keys, from [Start] until Close.
type Live struct {
	tree *Tree
	c    *term.Console
	keys term.Keyboard // nil where nobody can press any
	stop chan struct{}
	over sync.WaitGroup
	once sync.Once
	done bool // the terminal is not ours any more
}

// Start shows the tree of a run that is about to begin. Its events are handed over under c.Talk.
func Start(c *term.Console, o Options) *Live {
	l := &Live{c: c, stop: make(chan struct{})}
	if c.StdinTerminal && c.Keyboard != nil {
		l.keys = c.Keyboard()
	}
	o.Out, o.Size, o.Color, o.Now, o.Keys = c.Stderr, c.Size, c.Color(), time.Now, l.keys != nil
	l.tree = New(o)
	l.over.Go(l.guarded(l.draw))
	if l.keys != nil {
		l.keys.Take()
		l.over.Go(l.guarded(l.read))
	}
	c.Draw(l)
	return l
}

// guarded returns f, which leaves the terminal as it was should f panic.
func (l *Live) guarded(f func()) func() {
	return func() {
		defer func() {
			if p := recover(); p != nil {
				l.Leave()
				panic(p)
			}
		}()
		f()
	}
}

// Kinds are those of the events that the tree needs.
func (l *Live) Kinds() engine.EventKind { return l.tree.Kinds() }

// Event takes an event.
func (l *Live) Event(e engine.Event) { l.tree.Event(e) }

// draw draws while the run goes on.
func (l *Live) draw() {
	beats := time.NewTicker(Beat)
	defer beats.Stop()
	if l.c.OnSuspend != nil {
		// It may have been stopped without being asked, and a question may be open: it ends some time.
		defer l.c.OnSuspend(l.suspend, func() { go func() { l.c.Alone()() }() })()
	}
	for {
		select {
		case <-beats.C:
			l.c.Talk.Lock()
			if l.keys == nil || l.keys.Mine() {
				l.tree.Tick()
			}
			l.c.Talk.Unlock()
		case <-l.stop:
			return
		}
	}
}

// suspend leaves the terminal to others, unless a person is asked something: it is left to the question then.
func (l *Live) suspend() {
	for range 20 {
		if l.c.Talk.TryLock() {
			l.Hide()
			l.c.Talk.Unlock()
			return
		}
		time.Sleep(5 * time.Millisecond) // an event is handed over
	}
}

// read hands keys on. No key is read before the one before it was handed on.
func (l *Live) read() {
	var keys [64]byte
	for {
		n := l.keys.Read(keys[:])
		select {
		case <-l.stop:
			return
		default:
		}
		if n > 0 {
			l.c.Talk.Lock()
			l.tree.Press(keys[:n])
			l.c.Talk.Unlock()
		}
	}
}

// Hide leaves the terminal to others.
func (l *Live) Hide() {
	l.tree.Hide()
	if l.keys != nil {
		l.keys.Leave()
	}
}

// Show draws again, and reads keys unless somebody else reads what is typed.
func (l *Live) Show(keys bool) {
	if l.done { // a question outlived the run
		return
	}
	if l.keys != nil && keys {
		l.keys.Take()
	}
	l.tree.Show()
}

// Leave sets the terminal as it was, at once.
func (l *Live) Leave() {
	if l.keys != nil {
		l.keys.Leave()
	}
	if l.c.Talk.TryLock() {
		l.tree.Hide()
		l.c.Talk.Unlock()
	}
}

// Close ends the tree and leaves its summary. It may be called again.
func (l *Live) Close() {
	l.once.Do(func() {
		l.c.Draw(nil)
		close(l.stop)
		l.over.Wait()
		l.c.Talk.Lock()
		defer l.c.Talk.Unlock()
		l.done = true
		l.Hide()
		l.tree.Close()
	})
}
