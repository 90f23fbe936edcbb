//go:build linux || darwin

package main

import "syscall"

// limitMemory has the process die of what needs more, instead of the machine.
func limitMemory(bytes uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
