//go:build unix

package grant_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/grant"
)

// TestFSSpecial: opening a pipe does not block, devices are not read, and files that the kernel generates are refused.
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

// TestFSRefusedMakesNothing: a write that is refused because of a granted command creates no directories either.
func TestFSRefusedMakesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "g", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "g", "bin", "tool"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := granted(t, grant.WorkDir(dir), grant.Exec("./g/bin/tool"), grant.FS("g", grant.ReadWrite))
	for _, path := range []string{"g/bin/tool", "g/BIN/tool", "g/Bin/Tool"} {
		fails(t, ask(t, g, "fs.write", path, `"text": "x"`), diag.TouchRefused, "leads to, the granted command")
	}
	gives(t, ask(t, g, "fs.write", "g/made/for/it.txt", `"text": "x"`), "null")
	found, err := os.ReadDir(filepath.Join(dir, "g"))
	if err != nil || len(found) != 2 || found[0].Name() != "bin" || found[1].Name() != "made" {
		t.Errorf("%v, %v", found, err)
	}
}
