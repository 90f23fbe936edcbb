//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Keyboard hands on keys of a terminal when they are pressed, while they are taken. Keys that send signals still do.
type Keyboard struct {
	fd      int
	mode    sync.Mutex // held while the mode changes
	reading sync.Mutex // held while keys are read
	before  *unix.Termios
}

// NewKeyboard returns the keyboard of a terminal, nil when the file is none.
func NewKeyboard(f *os.File) *Keyboard {
	k := &Keyboard{fd: int(f.Fd())}
	if _, err := unix.IoctlGetTermios(k.fd, getMode); err != nil {
		return nil
	}
	return k
}

// patience is how long a key is waited for, in tenths of a second.
const patience = 1

// Take has the terminal hand on single keys, and show none of them. A process in the background takes none: it would
// be stopped.
func (k *Keyboard) Take() {
	k.mode.Lock()
	defer k.mode.Unlock()
	if k.before != nil || !k.Mine() {
		return
	}
	now, err := unix.IoctlGetTermios(k.fd, getMode)
	if err != nil {
		return
	}
	single := *now
	single.Lflag &^= unix.ICANON | unix.ECHO
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 0, patience
	if unix.IoctlSetTermios(k.fd, setMode, &single) == nil {
		k.before = now
	}
}

// Leave sets the terminal as it was, at once.
func (k *Keyboard) Leave() {
	k.mode.Lock()
	defer k.mode.Unlock()
	if k.before != nil && k.Mine() {
		_ = unix.IoctlSetTermios(k.fd, setMode, k.before) // a terminal that is gone has no mode
	}
	k.before = nil
}

// Give is [Keyboard.Leave] once no key is read any more.
func (k *Keyboard) Give() {
	k.Leave()
	k.reading.Lock() // whoever reads has ended, and does not begin again
	defer k.reading.Unlock()
}

// Read waits a moment for keys, and returns those that were pressed while they are taken.
func (k *Keyboard) Read(keys []byte) int {
	k.reading.Lock()
	defer k.reading.Unlock()
	k.mode.Lock()
	taken := k.before != nil && k.Mine()
	k.mode.Unlock()
	if taken {
		if n, err := unix.Read(k.fd, keys); err == nil {
			return n
		}
	}
	time.Sleep(patience * 100 * time.Millisecond)
	return 0
}

// Mine reports whether this process may use the terminal: it is in the foreground.
func (k *Keyboard) Mine() bool {
	group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
