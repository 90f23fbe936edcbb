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
	Stdin  io.WriteCloser
	Stdout *os.File
	cmd    *exec.Cmd
	group  reaper.Group
	exited chan struct{} // closed when the command has, and its last words are heard
	stop   func()
}

// Start starts a command. What it writes to its standard error goes to words. To end, it has
// patience to exit by itself, and as long again once asked to.
func Start(path string, args, env []string, words io.Writer, patience time.Duration) (*Process, error) {
	p := &Process{cmd: exec.Command(path, args...), exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Stderr = env, words
	p.cmd.WaitDelay = Settle / 2 // for what it leaves behind and holds its standard error open
	p.stop = sync.OnceFunc(func() { p.end(patience) })
	out, w, err := os.Pipe() // which outlives the command: what it wrote last is still to be read
	if err != nil {
		return nil, err
	}
	defer w.Close()
	p.Stdout, p.cmd.Stdout = out, w
	if p.Stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.group.Start(p.cmd)
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait() // its state says what came of it
		p.group.Kill()   // what it left behind holds its output open, so that nobody would learn of its end
	}()
	return p, nil
}

// Stop ends the process and all of its group: asked by the end of its input, then by a signal,
// then made to. It returns when nothing is left of it, or when p is nil.
func (p *Process) Stop() {
	if p != nil {
		p.stop()
	}
}

func (p *Process) end(patience time.Duration) {
	_ = p.Stdin.Close() // closed by the session as well
	if !Wait(p.exited, patience) && p.group.Ask() {
		Wait(p.exited, patience)
	}
	p.group.Kill()
	_ = p.cmd.Process.Kill() // where there is no group; gone otherwise
	<-p.exited
	p.group.Wait()
	p.Stdout.Close()
}

// Ended says how the process ended, "" while it runs.
func (p *Process) Ended(patience time.Duration) string {
	if p == nil || !Wait(p.exited, patience) {
		return ""
	}
	return p.cmd.ProcessState.String()
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
