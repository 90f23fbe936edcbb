package agentscript_test

import (
	"syscall"
	"time"
	"unsafe"
)

// threadTime is the CPU time of the calling thread. The difference of two readings in a goroutine that keeps its
// thread is the goroutine's own work, whatever else the machine does.
func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(t.Nano())
}
