package grant

import (
	"os"
	"strconv"
	"syscall"
)

// nonblock keeps opening a pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// kernels lists the magic numbers of file systems that the kernel generates: proc, sysfs, debugfs, tracefs, securityfs,
// cgroup and cgroup2, configfs, pstore, bpf, devpts.
var kernels = map[uint32]bool{0x9fa0: true, 0x62656572: true, 0x64626720: true, 0x74726163: true, 0x73636673: true,
	0x27e0eb: true, 0x63677270: true, 0x62656570: true, 0x6165676c: true, 0xcafe4a11: true, 0x1cd1: true}

// madeUp reports whether the kernel generates an open file, instead of storing it.
func madeUp(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return true // unknown
	}
	made := false
	err = raw.Control(func(fd uintptr) {
		var s syscall.Statfs_t
		made = syscall.Fstatfs(int(fd), &s) == nil && kernels[uint32(s.Type)]
	})
	return made || err != nil
}

// byDescriptor returns a path that leads to an open directory even if its name now leads elsewhere. A child process
// still has the descriptor when it changes to the directory before it executes a command.
func byDescriptor(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
