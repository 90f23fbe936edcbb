//go:build linux || darwin

package conformance

import "syscall"

// cpuSeconds returns the CPU time of the process. Other work of the machine does not count.
func cpuSeconds() (float64, bool) {
	var ru syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
	return float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e9, err == nil
}
