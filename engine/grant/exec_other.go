//go:build !unix

package grant

import (
	"os"
	"syscall"
)

// needed are the variables that every command gets: without the last, few start.
var needed = []string{"PATH", "PATHEXT", "SYSTEMROOT"}

func ownGroup() *syscall.SysProcAttr { return nil }

// Without process groups the command itself is ended; what it began goes on.
func endGroup(p *os.Process)  { p.Kill() }
func killGroup(p *os.Process) { p.Kill() }

func exitCode(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	return s.ExitCode()
}
