//go:build !linux

package grant

import (
	"os"
	"syscall"
)

// nonblock keeps opening a pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// madeUp reports whether the kernel generates an open file. On systems other than Linux such files are devices or do
// not exist.
func madeUp(*os.File) bool { return false }

// byDescriptor returns "": a directory has no other path than its name.
func byDescriptor(*os.File) string { return "" }
