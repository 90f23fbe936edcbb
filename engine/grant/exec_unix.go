//go:build unix

package grant

import (
	"os"
	"syscall"
)

// needed are the variables that every command gets.
var needed = []string{"PATH"}

func endGroup(p *os.Process)  { syscall.Kill(-p.Pid, syscall.SIGTERM) } // there may be nobody left
func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }

func exitCode(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
