//go:build linux || darwin

package main

import (
	"syscall"
	"time"
)

const clock = "CPU time of the process, the collector's share included"

// cpu is the time that all threads of the process have computed. It does not grow while others
// have the processor.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0 // cannot happen with these arguments
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// limitMemory has the process die of what needs more, instead of the machine.
func limitMemory(bytes uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
