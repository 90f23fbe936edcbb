//go:build !unix

package reaper

import "os/exec"

// Group does nothing on this system: whoever started the command must end it, and the processes that it starts
// continue, unless they end at the end of their input.
type Group struct{}

// Start starts the command.
func (g *Group) Start(cmd *exec.Cmd) error { return cmd.Start() }

// Ask reports that there is no group to ask.
func (g *Group) Ask() bool { return false }

// Kill ends nothing.
func (g *Group) Kill() {}

// Wait waits for nothing.
func (g *Group) Wait() {}
