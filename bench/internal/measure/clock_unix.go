//go:build linux || darwin

package measure

import (
	"syscall"
	"time"
)

// Clock says what [CPU] tells.
const Clock = "CPU time of the process, the collector's share included"

// CPU is the time that all threads of the process have computed. It does not grow while others
// have the processor.
func CPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0 // cannot happen with these arguments
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
