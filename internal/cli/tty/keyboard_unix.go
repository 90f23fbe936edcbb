//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Keyboard delivers keys of a terminal when they are pressed, while they are taken. Keys that send signals still do.
type Keyboard struct {
	fd     int
	mu     sync.Mutex // held while the mode changes and while keys are read, so that nothing reads during a change
	before *unix.Termios
}

// NewKeyboard returns the keyboard of a terminal, or nil if the file is not a terminal.
func NewKeyboard(f *os.File) *Keyboard {
	k := &Keyboard{fd: int(f.Fd())}
	if _, err := unix.IoctlGetTermios(k.fd, getMode); err != nil {
		return nil
	}
	return k
}

// patience bounds the wait for a key.
const patience = 100 * time.Millisecond

// Take makes the terminal deliver single keys without showing them. A process in the background must not do that: it
// would be stopped.
func (k *Keyboard) Take() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.before != nil || !k.Mine() {
		return
	}
	now, err := unix.IoctlGetTermios(k.fd, getMode)
	if err != nil {
		return
	}
	single := *now
	single.Lflag &^= unix.ICANON | unix.ECHO
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 0, 0 // a read returns at once
	if unix.IoctlSetTermios(k.fd, setMode, &single) == nil {
		k.before = now
	}
}

// Leave restores the terminal. No key is read after it returns.
func (k *Keyboard) Leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.before != nil && k.Mine() {
		_ = unix.IoctlSetTermios(k.fd, setMode, k.before) // a closed terminal has no mode
	}
	k.before = nil
}

// Read waits briefly for keys, and returns how many bytes it read.
func (k *Keyboard) Read(keys []byte) int {
	if k.taken() {
		var pressed unix.FdSet
		pressed.Set(k.fd)
		moment := unix.NsecToTimeval(patience.Nanoseconds())
		if n, err := unix.Select(k.fd+1, &pressed, nil, nil, &moment); n == 0 && err == nil {
			return 0
		}
		if n := k.read(keys); n > 0 {
			return n
		}
	}
	time.Sleep(patience) // something else reads, or the terminal is closed
	return 0
}

func (k *Keyboard) taken() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.before != nil
}

// read reads what is available, if keys are still taken. It never waits: a read that starts before Leave would end
// after it, with a line that is not for us.
func (k *Keyboard) read(keys []byte) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.before == nil || !k.Mine() {
		return 0
	}
	n, _ := unix.Read(k.fd, keys) // a closed terminal returns nothing
	return n
}

// Mine reports whether this process is in the foreground and may use the terminal.
func (k *Keyboard) Mine() bool {
	group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
