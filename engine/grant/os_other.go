//go:build !unix

package grant

import "os"

// needed lists the variables that every command gets: without the last, few commands start.
var needed = []string{"PATH", "PATHEXT", "SYSTEMROOT"}

func exitCode(s *os.ProcessState) int {
	return s.ExitCode()
}
