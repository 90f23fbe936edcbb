package transport

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine/internal/reaper"
)

// Settle is how long to wait for an ending process in order to report how it ended.
const Settle = 500 * time.Millisecond

// Process is a started server and everything that it starts.
type Process struct {
	Stdin  io.WriteCloser
	Stdout *os.File
	cmd    *exec.Cmd
	group  reaper.Group
	exited chan struct{} // closed when the command has ended and its last output is read
	stop   func()
}

// Start starts a command. Its standard error is written to words. When stopped, it has patience to exit by itself, and
// the same time again after a signal.
func Start(path string, args, env []string, words io.Writer, patience time.Duration) (*Process, error) {
	p := &Process{cmd: exec.Command(path, args...), exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Stderr = env, words
	p.cmd.WaitDelay = Settle / 2 // for processes that it leaves behind and that hold its standard error open
	p.stop = sync.OnceFunc(func() { p.end(patience) })
	out, w, err := os.Pipe() // the pipe outlives the command, so that its last output can be read
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
		_ = p.cmd.Wait() // the process state has the result
		p.group.Kill()   // processes that it left behind hold its output open, so its end would go unnoticed
	}()
	return p, nil
}

// Stop ends the process and its whole group: it closes the input, then sends a signal, then kills. It returns when
// nothing is left of it, or if p is nil.
func (p *Process) Stop() {
	if p != nil {
		p.stop()
	}
}

func (p *Process) end(patience time.Duration) {
	_ = p.Stdin.Close() // also closed by the session
	if !Wait(p.exited, patience) && p.group.Ask() {
		Wait(p.exited, patience)
	}
	p.group.Kill()
	_ = p.cmd.Process.Kill() // needed without a group; otherwise already gone
	<-p.exited
	p.group.Wait()
	p.Stdout.Close()
}

// Ended returns how the process ended, "" while it runs.
func (p *Process) Ended(patience time.Duration) string {
	if p == nil || !Wait(p.exited, patience) {
		return ""
	}
	return p.cmd.ProcessState.String()
}

// Wait waits until a channel is closed, at most for d, and reports whether it was closed.
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
