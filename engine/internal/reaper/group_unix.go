//go:build unix

package reaper

import (
	"os"
	"os/exec"
	"syscall"
)

// watch is the program of the process that leads a group. It waits for the end of its input, which only the host holds
// open, and then ends the group, however many processes are in between, as with npx. As long as the leader lives, the
// group's number is not reused, and the command starts in a group that is already watched.
const watch = `trap "" HUP INT TERM
read -r line
kill -TERM 0
sleep 1
kill -KILL 0`

// Group is the process group of a command.
type Group struct {
	first *exec.Cmd // the leader; the command itself if there is no shell: then nothing watches
	alive *os.File  // the input of the leader, nil without one
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

// Kill ends the whole group. A group that no longer exists needs no killing.
func (g *Group) Kill() { _ = syscall.Kill(-g.first.Process.Pid, syscall.SIGKILL) }

// Wait collects the leader, after [Group.Kill]. Whoever started the command must collect it.
func (g *Group) Wait() {
	if g.alive != nil {
		_ = g.first.Wait() // it was killed
		g.alive.Close()
	}
}
