// Package tty is what the command asks of a terminal beside writing to it: its size, its mode, single keys, and to be
// told before the process is suspended.
package tty

import (
	"os"

	"golang.org/x/term"
)

// Size returns how many cells a terminal has, or zeros for a file that is none.
func Size(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// Mode returns a function that sets a terminal as it is now.
func Mode(f *os.File) (restore func()) {
	now, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), now) } // a terminal that is gone has no mode
}
