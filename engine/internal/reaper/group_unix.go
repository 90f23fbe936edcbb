//go:build unix

package reaper

import (
	"os"
	"os/exec"
	"syscall"
)

// watch is the program of the process that leads a group: it waits for the end of its input, which
// only the host holds open, and then ends the group, however many processes stand between, as with
// npx. Being the leader it keeps the group's number from being given to others, and the command is
// born in a group that is watched already.
const watch = `trap "" HUP INT TERM
read -r line
kill -TERM 0
sleep 1
kill -KILL 0`

// Group is the process group of a command.
type Group struct {
	id     int
	leader *exec.Cmd // nil where there is no shell: then the command leads, and nothing watches
	alive  *os.File  // what the leader waits on
}

// Start starts the command in a group of its own. It sets the attributes of the process.
func (g *Group) Start(cmd *exec.Cmd) error {
	if err := g.lead(); err != nil {
		g.leader = nil
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: g.id}
	if err := cmd.Start(); err != nil {
		g.Kill()
		g.Wait()
		return err
	}
	if g.id == 0 {
		g.id = cmd.Process.Pid
	}
	return nil
}

// lead starts the leader.
func (g *Group) lead() error {
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

// Ask asks all of the group to end. It reports whether there is a group to ask.
func (g *Group) Ask() bool {
	return g.id != 0 && syscall.Kill(-g.id, syscall.SIGTERM) == nil
}

// Kill ends all of the group. A group that is gone is not there to be killed.
func (g *Group) Kill() {
	if g.id != 0 {
		_ = syscall.Kill(-g.id, syscall.SIGKILL)
	}
}

// Wait collects the leader, behind [Group.Kill]. The command is for whoever started it to collect.
func (g *Group) Wait() {
	if g.leader == nil {
		return
	}
	_ = g.leader.Wait() // it was killed
	g.alive.Close()
}
