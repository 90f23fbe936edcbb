package tree

import (
	"io"
	"testing"
	"time"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// A process that is suspended releases the terminal first, however long writers take. A question to a person that ends
// meanwhile shows nothing until the process continues.
func TestSuspend(t *testing.T) {
	started := make(chan [2]func(), 1)
	c := &term.Console{Process: &term.Process{Stderr: io.Discard, LookupEnv: func(string) (string, bool) { return "", false },
		Size:      func() (int, int) { return 80, 24 },
		OnSuspend: func(before, after func()) func() { started <- [2]func(){before, after}; return func() {} }}}
	l := Start(c, Options{})
	defer l.Close()
	hooks := <-started
	suspend, resume := hooks[0], hooks[1]
	leave := func() chan struct{} {
		left := make(chan struct{})
		go func() {
			suspend()
			close(left)
		}()
		return left
	}

	c.Talk.Lock() // something is being written
	left := leave()
	select {
	case <-left:
		t.Error("it is suspended while the tree is drawn")
	case <-time.After(5 * Beat): // in vain
	}
	c.Talk.Unlock()
	<-left
	c.Talk.Lock()
	if !l.tree.hidden {
		t.Error("it is suspended, and the tree is drawn")
	}
	c.Talk.Unlock()
	resume()
	l.mu.Lock()
	for l.hidden {
		l.changed.Wait()
	}
	l.mu.Unlock()

	answered := c.Alone() // a question
	<-leave()
	shown := make(chan struct{})
	go func() {
		answered()
		close(shown)
	}()
	select {
	case <-shown:
		t.Error("a question that ended shows the tree of a suspended process")
	case <-time.After(Beat): // in vain
	}
	resume()
	<-shown
}
