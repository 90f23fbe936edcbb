//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"os"
	"os/signal"
	"syscall"
)

// OnSuspend calls before when the process is about to be suspended or killed from the terminal, and after when it
// continues. If a process was stopped without notice, only after is called.
func OnSuspend(before, after func()) (stop func()) {
	signals, over := make(chan os.Signal, 4), make(chan struct{})
	for _, sig := range []os.Signal{syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGQUIT} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	go func() {
		for {
			select {
			case sig := <-signals:
				switch sig {
				case syscall.SIGCONT:
					after()
				case syscall.SIGTSTP:
					before()
					_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
				default:
					before()
					signal.Reset(sig)
					_ = syscall.Kill(syscall.Getpid(), syscall.SIGQUIT)
				}
			case <-over:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(over)
	}
}
