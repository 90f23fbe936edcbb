//go:build linux || darwin

package main

import "syscall"

// limitMemory makes the process, and not the machine, fail if it needs more memory.
func limitMemory(bytes uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
