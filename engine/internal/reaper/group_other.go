//go:build !unix

package reaper

import "os/exec"

// Group is nothing here: the command itself is for whoever started it to end, and what it starts
// goes on, unless it ends by the end of its input.
type Group struct{}

// Start starts the command.
func (g *Group) Start(cmd *exec.Cmd) error { return cmd.Start() }

// Ask reports that there is no group to ask.
func (g *Group) Ask() bool { return false }

// Kill ends nothing.
func (g *Group) Kill() {}

// Wait waits for nothing.
func (g *Group) Wait() {}
