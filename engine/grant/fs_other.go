//go:build !linux

package grant

import (
	"os"
	"syscall"
)

// nonblock keeps the opening of a pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// madeUp reports whether an open file belongs to no storage but to the kernel. Elsewhere than on
// Linux such files are devices, or there are none.
func madeUp(*os.File) bool { return false }

// byDescriptor is "": a directory has no path but its name.
func byDescriptor(*os.File) string { return "" }
