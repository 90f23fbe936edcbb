package transport

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine/internal/reaper"
)

// Settle is how long an ending process is waited for when an error is to say how it ended.
const Settle = 500 * time.Millisecond

// Process is a server that was started, with all that it starts itself.
type Process struct {
	cmd      *exec.Cmd
	Stdin    io.WriteCloser
	Stdout   *os.File
	stderr   *os.File
	exited   chan struct{} // closed when the command has
	Heard    chan struct{} // closed when its standard error is read to its end
	state    *os.ProcessState
	group    reaper.Group
	patience time.Duration
	stopping sync.Once
	gone     chan struct{}
}

// Start starts a command. What it writes to its standard error goes to words.
func Start(path string, args, env []string, dir string, words io.Writer, patience time.Duration) (*Process, error) {
	p := &Process{exited: make(chan struct{}), Heard: make(chan struct{}), gone: make(chan struct{}), patience: patience}
	p.cmd = exec.Command(path, args...)
	p.cmd.Env, p.cmd.Dir = env, dir
	var theirs [3]*os.File
	var ours [3]*os.File
	defer func() {
		for _, f := range theirs {
			if f != nil {
				f.Close() // the child has its own
			}
		}
	}()
	fail := func(err error) (*Process, error) {
		for _, f := range ours {
			if f != nil {
				f.Close() // nothing was written
			}
		}
		return nil, err
	}
	for i := range theirs {
		r, w, err := os.Pipe()
		if err != nil {
			return fail(err)
		}
		if theirs[i], ours[i] = w, r; i == 0 {
			theirs[i], ours[i] = r, w
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	if err := p.group.Start(p.cmd); err != nil {
		return fail(err)
	}
	p.Stdin, p.Stdout, p.stderr = ours[0], ours[1], ours[2]
	go func() {
		defer close(p.Heard)
		_, _ = io.Copy(words, p.stderr) // until it is closed
	}()
	go func() {
		_ = p.cmd.Wait() // its state says what came of it
		p.state = p.cmd.ProcessState
		close(p.exited)
		// What it left behind holds its output open, so that nobody would learn of its end.
		if !Wait(p.gone, 300*time.Millisecond) {
			p.group.Kill()
		}
	}()
	return p, nil
}

// Stop ends the process and all of its group: asked by the end of its input, then by a signal,
// then made to. It returns when nothing is left of it.
func (p *Process) Stop() {
	p.stopping.Do(func() {
		defer close(p.gone)
		_ = p.Stdin.Close() // closed by the session as well
		if !Wait(p.exited, p.patience) && p.group.Ask() {
			Wait(p.exited, p.patience)
		}
		p.group.Kill()
		_ = p.cmd.Process.Kill() // where there is no group; gone otherwise
		<-p.exited
		p.group.Wait()
		p.Stdout.Close()
		Wait(p.Heard, Settle) // its last words may still be on their way; what got out of its group may hold them open
		p.stderr.Close()
	})
	<-p.gone
}

// Ended says how the process ended, "" while it runs.
func (p *Process) Ended(patience time.Duration) string {
	if p == nil || !Wait(p.exited, patience) {
		return ""
	}
	return p.state.String()
}

// Wait waits for a channel to be closed, or for a time.
func Wait(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
