//go:build unix

package grant_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/grant"
)

// TestFSSpecial: a pipe is not waited for, a device not read, and what the kernel makes up is no file.
func TestFSSpecial(t *testing.T) {
	dir, g := desk(t, grant.ReadWrite, grant.FS("/dev", grant.ReadWrite))
	if err := syscall.Mkfifo(dir+"/desk/pipe", 0o644); err != nil {
		t.Skip("no pipes here")
	}
	fails(t, ask(t, g, "fs.read", "desk/pipe"), diag.TouchRefused, "a pipe")
	fails(t, ask(t, g, "fs.write", "desk/pipe", `"text": "x"`), diag.TouchRefused, "a pipe")
	gives(t, ask(t, g, "fs.stat", "desk/pipe"), `"kind":"other"`)
	fails(t, ask(t, g, "fs.read", "/dev/zero"), diag.TouchRefused, "a device")
	fails(t, ask(t, g, "fs.write", "/dev/null", `"text": "x"`), diag.TouchRefused, "a device")
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc here")
	}
	made := granted(t, grant.FS("/proc", grant.ReadOnly), grant.FS("/", grant.ReadOnly))
	for _, path := range []string{"/proc/self/environ", "/proc/version", "/proc/self/root/etc/passwd", "/proc/self/fd/0"} {
		if out := ask(t, made, "fs.read", path); out.Err == nil || out.Err.Code != diag.TouchRefused && out.Err.Code != diag.TouchFailed {
			t.Errorf("%s: %v", path, out)
		}
	}
	fails(t, ask(t, made, "fs.list", "/proc/self"), diag.TouchRefused, "the kernel")
}
