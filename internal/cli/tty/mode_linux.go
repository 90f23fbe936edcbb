package tty

import "golang.org/x/sys/unix"

const getMode, setMode = unix.TCGETS, unix.TCSETSW
