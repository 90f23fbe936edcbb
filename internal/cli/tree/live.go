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
	keys term.Keyboard // nil if no keys can be read
	stop chan struct{}
	over sync.WaitGroup
	once sync.Once
	done bool // the terminal is no longer ours

	mu      sync.Mutex
	changed *sync.Cond // signals changes of the following fields
	hidden  bool       // nothing is drawn and no key is read
	stopped bool       // the process is about to be suspended, or is: nothing is shown until it continues
}

// Start shows the tree of a run that is about to begin. Its events must be passed while holding c.Talk.
func Start(c *term.Console, o Options) *Live {
	l := &Live{c: c, stop: make(chan struct{})}
	l.changed = sync.NewCond(&l.mu)
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

// guarded returns f, but restores the terminal if f panics.
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

// Kinds returns the kinds of events that the tree needs.
func (l *Live) Kinds() engine.EventKind { return l.tree.Kinds() }

// Event handles an event.
func (l *Live) Event(e engine.Event) { l.tree.Event(e) }

// draw draws during the run.
func (l *Live) draw() {
	beats := time.NewTicker(Beat)
	defer beats.Stop()
	if l.c.OnSuspend != nil {
		defer l.c.OnSuspend(l.suspend, l.resume)()
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

// suspend releases the terminal until [Live.resume]. It waits for writers to the terminal, but not for a question to a
// person, which has already hidden the tree.
func (l *Live) suspend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	go func() {
		l.c.Talk.Lock()
		defer l.c.Talk.Unlock()
		if l.is(&l.stopped) && !l.is(&l.hidden) {
			l.Hide()
		}
	}()
	for !l.hidden {
		l.changed.Wait()
	}
}

// resume shows the tree again. The process may have been stopped without notice, and a question may be open, which ends
// eventually.
func (l *Live) resume() {
	l.set(&l.stopped, false)
	go func() { l.c.Alone()() }()
}

func (l *Live) is(state *bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *state
}

func (l *Live) set(state *bool, holds bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*state = holds
	l.changed.Broadcast()
}

// read passes keys to the tree. It reads no key before the previous one was passed on.
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

// Hide releases the terminal to others.
func (l *Live) Hide() {
	l.tree.Hide()
	if l.keys != nil {
		l.keys.Leave()
	}
	l.set(&l.hidden, true)
}

// Show draws again, and reads keys unless something else reads them. It waits for a suspended process to continue.
func (l *Live) Show(keys bool) {
	if l.done { // a question outlived the run
		return
	}
	l.mu.Lock()
	for l.stopped {
		l.changed.Wait()
	}
	l.hidden = false
	l.mu.Unlock()
	if l.keys != nil && keys {
		l.keys.Take()
	}
	l.tree.Show()
}

// Leave restores the terminal at once.
func (l *Live) Leave() {
	if l.keys != nil {
		l.keys.Leave()
	}
	if l.c.Talk.TryLock() {
		l.tree.Hide()
		l.c.Talk.Unlock()
	}
}

// Close ends the tree and leaves its summary. Further calls do nothing.
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
