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
	fd     int
	mu     sync.Mutex // held while the mode changes and while keys are read: whoever changes it knows that nobody reads
	before *unix.Termios
}

// NewKeyboard returns the keyboard of a terminal, nil when the file is none.
func NewKeyboard(f *os.File) *Keyboard {
	k := &Keyboard{fd: int(f.Fd())}
	if _, err := unix.IoctlGetTermios(k.fd, getMode); err != nil {
		return nil
	}
	return k
}

// patience is how long a key is waited for.
const patience = 100 * time.Millisecond

// Take has the terminal hand on single keys, and show none of them. A process in the background takes none: it would
// be stopped.
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
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 0, 0 // a read returns what is there
	if unix.IoctlSetTermios(k.fd, setMode, &single) == nil {
		k.before = now
	}
}

// Leave sets the terminal as it was. No key is read after it returns.
func (k *Keyboard) Leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.before != nil && k.Mine() {
		_ = unix.IoctlSetTermios(k.fd, setMode, k.before) // a terminal that is gone has no mode
	}
	k.before = nil
}

// Read waits a moment for keys, and returns how many bytes of them it read.
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
	time.Sleep(patience) // somebody else reads, or the terminal is gone
	return 0
}

func (k *Keyboard) taken() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.before != nil
}

// read reads what is there, if keys are still taken. It never waits: a read that is begun before Leave would end after
// it, with a line that is not for us.
func (k *Keyboard) read(keys []byte) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.before == nil || !k.Mine() {
		return 0
	}
	n, _ := unix.Read(k.fd, keys) // nothing is read of a terminal that is gone
	return n
}

// Mine reports whether this process may use the terminal: it is in the foreground.
func (k *Keyboard) Mine() bool {
	group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
