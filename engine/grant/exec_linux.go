package grant

import "syscall"

// ownGroup begins a process group, so that all that a command begins can be ended. The command itself
// ends with this process, also when that is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
