//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import "golang.org/x/sys/unix"

const getMode, setMode = unix.TIOCGETA, unix.TIOCSETAW
