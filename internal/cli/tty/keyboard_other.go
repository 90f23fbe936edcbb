//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package tty

import "os"

// Keyboard is the keyboard on systems on which single keys are not read.
type Keyboard struct{}

// NewKeyboard returns nil: there are no single keys.
func NewKeyboard(*os.File) *Keyboard { return nil }

// Mine reports that the terminal may be used.
func (*Keyboard) Mine() bool { return true }

// Take does nothing.
func (*Keyboard) Take() {}

// Leave does nothing.
func (*Keyboard) Leave() {}

// Read returns no key.
func (*Keyboard) Read([]byte) int { return 0 }

// OnSuspend never calls its arguments: a process is not suspended here.
func OnSuspend(func(), func()) (stop func()) { return func() {} }
