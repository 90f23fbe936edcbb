// Package hang stops tests that hang, and shows where they hang. No test depends on the speed of the machine: tests
// wait for what a loaded machine does late, and the limit is far beyond what any wait takes.
package hang

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

// limit bounds one wait of a test.
const limit = 2 * time.Minute

// Context returns a context that ends with the test, or when the test hangs.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// Command returns a command that ends with the test. If it hangs, it gets SIGQUIT: a Go process then prints the stacks
// of its goroutines to stderr and exits. The command ignores no signal, even if the process of the tests does, as when
// a shell has started it with &.
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	caught := make(chan os.Signal, 1)
	t.Cleanup(func() { signal.Stop(caught) })
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(caught, sig) // a process inherits ignored signals, but not this
		}
	}
	cmd := exec.CommandContext(Context(t), name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = limit / 4 // after that it is killed
	return cmd
}

// Until waits until a condition holds. If it never does, the test fails with the stacks of all goroutines.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > limit {
			stacks := make([]byte, 1<<20)
			t.Fatalf("this does not happen: %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// Guard ends the process with the stacks of all goroutines if the test hangs where no context has an effect, such as in
// reading a terminal.
func Guard(t testing.TB) {
	timer := time.AfterFunc(limit, func() {
		debug.SetTraceback("all")
		panic(t.Name() + " hangs")
	})
	t.Cleanup(func() { timer.Stop() })
}
