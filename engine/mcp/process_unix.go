//go:build unix

package mcp

import (
	"os"
	"os/exec"
	"syscall"
)

// watch is the program of the process that leads a server's group: it waits for the end of its
// input, which only the host holds open, and then ends the group. So nothing is left of a server
// when the host is killed, however many processes stand between, as with npx. Being the leader it
// keeps the group's number from being given to others, and the server is born in a group that is
// watched already.
const watch = `trap "" HUP INT TERM
read -r line
kill -TERM 0
sleep 1
kill -KILL 0`

// group is the process group of a server.
type group struct {
	id     int
	leader *exec.Cmd // nil where there is no shell: then the command leads, and the end of its input must do
	alive  *os.File  // what the leader waits on
}

// start starts the command in a group of its own.
func (g *group) start(cmd *exec.Cmd) error {
	if err := g.lead(); err != nil {
		g.leader = nil
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.id}
	if err := cmd.Start(); err != nil {
		g.kill()
		g.wait()
		return err
	}
	if g.id == 0 {
		g.id = cmd.Process.Pid
	}
	return nil
}

// lead starts the leader.
func (g *group) lead() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	g.leader = exec.Command("/bin/sh", "-c", watch)
	g.leader.Stdin = r
	g.leader.Env = []string{"PATH=/usr/bin:/bin"}
	g.leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := g.leader.Start(); err != nil {
		w.Close()
		return err
	}
	g.id, g.alive = g.leader.Process.Pid, w
	return nil
}

// ask asks all of the group to end. It reports whether there is a group to ask.
func (g *group) ask(*exec.Cmd) bool {
	return g.id != 0 && syscall.Kill(-g.id, syscall.SIGTERM) == nil
}

// kill ends all of the group. A group that is gone is not there to be killed.
func (g *group) kill() {
	if g.id != 0 {
		_ = syscall.Kill(-g.id, syscall.SIGKILL)
	}
}

// wait collects the leader.
func (g *group) wait() {
	if g.leader == nil {
		return
	}
	_ = g.leader.Wait() // it was killed
	g.alive.Close()
}
