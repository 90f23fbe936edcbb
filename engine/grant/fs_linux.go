package grant

import (
	"os"
	"strconv"
	"syscall"
)

// nonblock keeps the opening of a pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// kernels are the file systems that the kernel makes up: proc, sysfs, debugfs, tracefs, securityfs,
// cgroup and cgroup2, configfs, pstore, bpf, devpts.
var kernels = map[uint32]bool{0x9fa0: true, 0x62656572: true, 0x64626720: true, 0x74726163: true, 0x73636673: true,
	0x27e0eb: true, 0x63677270: true, 0x62656570: true, 0x6165676c: true, 0xcafe4a11: true, 0x1cd1: true}

// madeUp reports whether an open file belongs to no storage but to the kernel.
func madeUp(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return true // nothing can be said of it
	}
	made := false
	err = raw.Control(func(fd uintptr) {
		var s syscall.Statfs_t
		made = syscall.Fstatfs(int(fd), &s) == nil && kernels[uint32(s.Type)]
	})
	return made || err != nil
}

// byDescriptor is a path of an open directory that leads to it whatever its name leads to by now. A child
// process that changes to it before it executes a command has the descriptor still.
func byDescriptor(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
