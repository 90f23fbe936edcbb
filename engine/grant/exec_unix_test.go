//go:build unix

package grant_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/internal/hang"
)

// path returns the process's PATH, which commands need.
func path() []string { return []string{"PATH", os.Getenv("PATH")} }

// TestExec: a command gets its arguments unchanged, and its output is returned.
func TestExec(t *testing.T) {
	g := granted(t, grant.Exec("printf", "sh", "cat", "env"), environment(append(path(), "LANG", "C", "API_TOKEN", "s3cr3t!", "SECRETIVE", "no")...), grant.Env("LANG", "API_TOKEN"))
	ctx := t.Context()
	gives(t, touch(t, ctx, g, "sh.run", `{"command": ["printf", "%s|", "$HOME; ls", "*", "a b"]}`), `"stdout":"$HOME; ls|*|a b|"`)
	gives(t, touch(t, ctx, g, "sh.run", `{"command": ["sh", "-c", "echo no >&2; exit 3"]}`), `{"code":3,"stdout":"","stderr":"no\n","truncated":false}`)
	gives(t, touch(t, ctx, g, "sh.run", `{"command": ["sh", "-c", "kill -9 $$"]}`), `"code":137`)
	gives(t, touch(t, ctx, g, "sh.run", `{"command": ["cat"], "input": ["key ", {"env": "API_TOKEN"}, " end"]}`), `"stdout":"key <secret API_TOKEN> end"`)
	gives(t, touch(t, ctx, g, "sh.run", `{"command": ["cat"]}`), `"stdout":""`)
	gives(t, touch(t, ctx, g, "sh.run", `{"command": ["printf", "\\377x"]}`), `"stdout":"`+"\uFFFD"+`x"`)
	small := granted(t, grant.Exec("printf"), environment(append(path(), "API_TOKEN", "s3cr3t!")...), grant.Env("API_TOKEN"), grant.OutputCap(10))
	gives(t, touch(t, ctx, small, "sh.run", `{"command": ["printf", "1234567890"]}`), `"stdout":"1234567890","stderr":"","truncated":false`)
	bare := granted(t, grant.Exec("/usr/bin/env"), environment())
	gives(t, touch(t, ctx, bare, "sh.run", `{"command": ["/usr/bin/env"]}`), `"code":0,"stdout":""`) // nothing of the host's environment
	out := touch(t, ctx, g, "sh.run", `{"command": ["env"]}`)
	gives(t, out, `API_TOKEN=<secret API_TOKEN>\nLANG=C\nPATH=`)
	r, _ := out.Value.AsRecord()
	if text, _ := r.At(1).AsStr(); strings.Count(text, "\n") != 3 {
		t.Errorf("the environment is\n%s", text)
	}
}

// TestExecRefused: no other word than the granted one runs anything.
func TestExecRefused(t *testing.T) {
	dir := t.TempDir()
	g := granted(t, grant.WorkDir(dir), grant.Exec("sh"), environment(path()...))
	for _, word := range []string{"./sh", "/bin/sh", "../sh", "sh ", "cat", "", "SH"} {
		fails(t, touch(t, t.Context(), g, "sh.run", `{"command": [`+strconv.Quote(word)+`, "-c", "true"]}`), diag.UngrantedUse, "--allow-exec")
	}
	fails(t, touch(t, t.Context(), g, "sh.run", `{"command": ["sh", "-c", "true"], "dir": "/"}`), diag.UngrantedUse, "--allow-fs /")
	fails(t, touch(t, t.Context(), g, "sh.run", `{"command": ["sh", "-c", "tr\u0000ue"]}`), diag.TouchFailed, "could not be started")
}

// TestExecIsSettled: a command is the one found when it was granted, whatever happens to the path.
func TestExecIsSettled(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for dir, says := range map[string]string{first: "first", second: "second"} {
		if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho "+says+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	was := os.Getenv("PATH")
	t.Setenv("PATH", first+":"+was)
	g := granted(t, grant.Exec("tool"))
	t.Setenv("PATH", second+":"+was)
	gives(t, touch(t, t.Context(), g, "sh.run", `{"command": ["tool"]}`), `"stdout":"first\n"`)
	if err := os.Remove(filepath.Join(first, "tool")); err != nil {
		t.Fatal(err)
	}
	fails(t, touch(t, t.Context(), g, "sh.run", `{"command": ["tool"]}`), diag.TouchFailed, "could not be started")
	t.Setenv("PATH", ":"+was) // the working directory
	t.Chdir(second)
	if _, err := grant.New(grant.Exec("tool")); err == nil || !strings.Contains(err.Error(), "current directory") {
		t.Errorf("a command of the working directory is granted by its name alone: %v", err)
	}
	here := granted(t, grant.Exec("./tool"))
	gives(t, touch(t, t.Context(), here, "sh.run", `{"command": ["./tool"]}`), `"stdout":"second\n"`)
}

// TestExecDir: a command runs in a granted directory, and no link leads it elsewhere.
func TestExecDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/desk/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", dir+"/desk/out"); err != nil {
		t.Fatal(err)
	}
	g := granted(t, grant.WorkDir(dir), grant.Exec("pwd"), grant.FS("desk", grant.ReadOnly), environment(path()...))
	gives(t, touch(t, t.Context(), g, "sh.run", `{"command": ["pwd"], "dir": "desk/sub"}`), "/desk/sub")
	fails(t, touch(t, t.Context(), g, "sh.run", `{"command": ["pwd"], "dir": "desk/out"}`), diag.TouchRefused, "symbolic link")
	fails(t, touch(t, t.Context(), g, "sh.run", `{"command": ["pwd"], "dir": "desk/none"}`), diag.TouchFailed, "there is no")
}

// TestExecFlood: output beyond the cap is dropped, and the result says so.
func TestExecFlood(t *testing.T) {
	g := granted(t, grant.Exec("head"), environment(path()...))
	out := touch(t, t.Context(), g, "sh.run", `{"command": ["head", "-c", "1000000000", "/dev/zero"], "timeout": 300}`)
	gives(t, out, `"truncated":true`)
	r, _ := out.Value.AsRecord()
	if text, _ := r.At(1).AsStr(); len(text) != grant.DefaultOutputCap {
		t.Errorf("%d bytes", len(text))
	}
}

// gone waits until a process has ended, including one that nobody has waited for.
func gone(t *testing.T, pid int) {
	t.Helper()
	hang.Until(t, fmt.Sprintf("process %d ends", pid), func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
	})
}

// TestExecTimeout: a command whose time is up ends together with all that it started, even if it ignores signals.
func TestExecTimeout(t *testing.T) {
	dir := t.TempDir()
	g := granted(t, grant.WorkDir(dir), grant.Exec("sh"), environment(path()...))
	for name, script := range map[string]string{
		"ignores SIGTERM": `trap "" TERM; sleep 300 & echo $! > child; echo begun; while :; do sleep 1; done`,
		"waits":           `sleep 300 & echo $! > child; echo begun; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			var out engine.Outcome
			for limit := 200 * time.Millisecond; out.Err == nil || !strings.Contains(out.Err.Raw, "begun") && limit < time.Minute; limit *= 2 { // it has begun by then
				out = touch(t, t.Context(), g, "sh.run", fmt.Sprintf(`{"command": ["sh", "-c", %q], "timeout": %g}`, script, limit.Seconds()))
				fails(t, out, diag.Timeout, `the command "sh" did not end within `+limit.String())
			}
			if out.Err.Kind != engine.KindTimeout || !strings.Contains(out.Err.Raw, "begun") {
				t.Errorf("%s: %q", out.Err.Kind, out.Err.Raw)
			}
			gone(t, pidIn(t, dir+"/child"))
		})
	}
}

// TestExecGrandchild: processes that a command leaves behind are ended with it, and do not hold its output open.
func TestExecGrandchild(t *testing.T) {
	dir := t.TempDir()
	g := granted(t, grant.WorkDir(dir), grant.Exec("sh"), environment(path()...))
	gives(t, touch(t, t.Context(), g, "sh.run", `{"command": ["sh", "-c", "sleep 300 & echo $! > child; echo done"], "timeout": 200}`), `{"code":0,"stdout":"done\n"`)
	gone(t, pidIn(t, dir+"/child"))
}

// TestExecCancel: the end of a run ends its commands.
func TestExecCancel(t *testing.T) {
	dir := t.TempDir()
	g := granted(t, grant.WorkDir(dir), grant.Exec("sh"), environment(path()...))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		hang.Until(t, "the command begins", func() bool {
			_, err := os.Stat(dir + "/begun")
			return err == nil
		})
	}()
	out := touch(t, ctx, g, "sh.run", `{"command": ["sh", "-c", "sleep 300 & echo $! > child; echo > begun; wait"], "timeout": 250}`)
	if out.Err == nil || out.Err.Kind != engine.KindCancelled {
		t.Errorf("%v", out.Err)
	}
	gone(t, pidIn(t, dir+"/child"))
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
