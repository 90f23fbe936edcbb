//go:build unix

package grant

import (
	"os"
	"syscall"
)

// needed lists the variables that every command gets.
var needed = []string{"PATH"}

func exitCode(s *os.ProcessState) int {
	if s == nil { // without a state, since the host ignores SIGCHLD
		return -1
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
