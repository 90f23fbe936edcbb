// Package tty provides what the command needs from a terminal besides writing: its size, its mode, single keys, and
// notice of suspension.
package tty

import (
	"os"

	"golang.org/x/term"
)

// Size returns the number of cells of a terminal, or zeros for a file that is not one.
func Size(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// Mode returns a function that restores the current mode of a terminal.
func Mode(f *os.File) (restore func()) {
	now, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), now) } // a closed terminal has no mode
}
