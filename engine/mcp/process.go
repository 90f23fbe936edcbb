package mcp

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine/internal/reaper"
)

// settle is how long an ending process is waited for when an error is to say how it ended.
const settle = 500 * time.Millisecond

// process is a server that was started, with all that it starts itself.
type process struct {
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	stdout   *os.File
	stderr   *os.File
	exited   chan struct{} // closed when the command has
	heard    chan struct{} // closed when its standard error is read to its end
	state    *os.ProcessState
	group    reaper.Group
	patience time.Duration
	stopping sync.Once
	gone     chan struct{}
}

// start starts a command. What it writes to its standard error goes to words.
func start(path string, args, env []string, dir string, words io.Writer, patience time.Duration) (*process, error) {
	p := &process{exited: make(chan struct{}), heard: make(chan struct{}), gone: make(chan struct{}), patience: patience}
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
	fail := func(err error) (*process, error) {
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
	p.stdin, p.stdout, p.stderr = ours[0], ours[1], ours[2]
	go func() {
		defer close(p.heard)
		_, _ = io.Copy(words, p.stderr) // until it is closed
	}()
	go func() {
		_ = p.cmd.Wait() // its state says what came of it
		p.state = p.cmd.ProcessState
		close(p.exited)
		// What it left behind holds its output open, so that nobody would learn of its end.
		if !wait(p.gone, 300*time.Millisecond) {
			p.group.Kill()
		}
	}()
	return p, nil
}

// stop ends the process and all of its group: asked by the end of its input, then by a signal,
// then made to. It returns when nothing is left of it.
func (p *process) stop() {
	p.stopping.Do(func() {
		defer close(p.gone)
		_ = p.stdin.Close() // closed by the session as well
		if !wait(p.exited, p.patience) && p.group.Ask() {
			wait(p.exited, p.patience)
		}
		p.group.Kill()
		_ = p.cmd.Process.Kill() // where there is no group; gone otherwise
		<-p.exited
		p.group.Wait()
		p.stdout.Close()
		wait(p.heard, settle) // its last words may still be on their way; what got out of its group may hold them open
		p.stderr.Close()
	})
	<-p.gone
}

// ended says how the process ended, "" while it runs.
func (p *process) ended(patience time.Duration) string {
	if p == nil || !wait(p.exited, patience) {
		return ""
	}
	return p.state.String()
}

// wait waits for a channel to be closed, or for a time.
func wait(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
