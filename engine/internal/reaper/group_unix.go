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
	first *exec.Cmd // the leader; the command itself where there is no shell: then nothing watches
	alive *os.File  // what the leader waits on, nil where there is none
}

// Start starts the command in its own group. It sets the attributes of the process.
func (g *Group) Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := g.lead(); err == nil {
		cmd.SysProcAttr.Pgid = g.first.Process.Pid
	} else {
		g.first = cmd
	}
	err := cmd.Start()
	if err != nil && g.alive != nil {
		g.Kill()
		g.Wait()
	}
	return err
}

// lead starts the leader.
func (g *Group) lead() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	g.first = exec.Command("/bin/sh", "-c", watch)
	g.first.Stdin = r
	g.first.Env = []string{"PATH=/usr/bin:/bin"}
	g.first.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := g.first.Start(); err != nil {
		w.Close()
		return err
	}
	g.alive = w
	return nil
}

// Ask asks all of the group to end. It reports whether there is a group to ask.
func (g *Group) Ask() bool { return syscall.Kill(-g.first.Process.Pid, syscall.SIGTERM) == nil }

// Kill ends all of the group. A group that is gone is not there to be killed.
func (g *Group) Kill() { _ = syscall.Kill(-g.first.Process.Pid, syscall.SIGKILL) }

// Wait collects the leader, behind [Group.Kill]. The command is for whoever started it to collect.
func (g *Group) Wait() {
	if g.alive != nil {
		_ = g.first.Wait() // it was killed
		g.alive.Close()
	}
}
