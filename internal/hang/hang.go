// Package hang ends what hangs in a test, and shows where. No clock decides a test: what a loaded machine does late is
// waited for, and the limit is far beyond what any wait takes.
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

// limit is how long one wait of a test may take.
const limit = 2 * time.Minute

// Context returns a context that ends with the test, or when what waits with it hangs.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// Command returns a command that ends with the test. If it hangs it gets SIGQUIT: a process in Go prints the stacks of its
// goroutines to stderr and exits. It ignores no signal, though the tests may: a shell starts what follows it with & so.
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	caught := make(chan os.Signal, 1)
	t.Cleanup(func() { signal.Stop(caught) })
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(caught, sig) // a process does not inherit that
		}
	}
	cmd := exec.CommandContext(Context(t), name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = limit / 4 // then it is killed
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

// Guard ends the process with the stacks of all goroutines if the test hangs where no context reaches, as in reading a
// terminal.
func Guard(t testing.TB) {
	timer := time.AfterFunc(limit, func() {
		debug.SetTraceback("all")
		panic(t.Name() + " hangs")
	})
	t.Cleanup(func() { timer.Stop() })
}
