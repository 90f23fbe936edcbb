//go:build !unix

package mcp

import "os/exec"

// group is nothing here: what a server starts itself ends by the end of its input.
type group struct{}

func (g *group) start(cmd *exec.Cmd) error { return cmd.Start() }
func (g *group) ask(*exec.Cmd) bool        { return false }
func (g *group) kill()                     {}
func (g *group) wait()                     {}
