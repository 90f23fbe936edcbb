//go:build unix && !linux

package grant

import "syscall"

// ownGroup begins a process group, so that all that a command begins can be ended.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
