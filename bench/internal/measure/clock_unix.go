//go:build linux || darwin

package measure

import (
	"syscall"
	"time"
)

// Clock describes what [CPU] measures.
const Clock = "CPU time of the process, the collector's share included"

// CPU returns the CPU time of all threads of the process. It does not grow while other processes have the processor.
func CPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0 // cannot happen with these arguments
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
