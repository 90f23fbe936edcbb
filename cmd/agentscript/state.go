package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

// state is everything that the command knows of its process, so that tests run it in process
// and nothing else in this package touches the os package's globals but files by name.
type state struct {
	version        string   // set by the linker, or empty
	args           []string // without the program's name
	stdin          io.Reader
	stdout         io.Writer // see output
	stderr         io.Writer // of which each writer keeps to what legible makes of texts: colours are ours
	stdinPiped     bool      // stdin is a pipe or a file, neither a terminal nor nothing
	stdoutLost     bool      // nobody reads stdout, and writing to it does not say so
	stderrTerminal bool
	stdinTerminal  bool
	// openTerminal opens the terminal that the process belongs to, until the process ends.
	openTerminal func() (io.ReadWriter, error)
	lookupEnv    func(name string) (string, bool)
	// signals begins to deliver interrupts; stop ends that.
	signals func() (interrupts <-chan os.Signal, stop func())
	// kill ends the process at once.
	kill func(code int)
	// browse opens a URL in the user's browser.
	browse func(url string) error
}

// osState returns the process that this is.
func osState(version string) *state {
	return &state{
		version: version, args: os.Args[1:], stdin: os.Stdin, stdout: output(os.Stdout), stderr: os.Stderr,
		stdinPiped: piped(os.Stdin), stdoutLost: discarded(os.Stdout), stderrTerminal: terminal(os.Stderr), stdinTerminal: terminal(os.Stdin),
		openTerminal: func() (io.ReadWriter, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }, // which Windows does not have
		lookupEnv:    os.LookupEnv, kill: os.Exit, browse: browse,
		signals: func() (<-chan os.Signal, func()) {
			ch := make(chan os.Signal, 2)
			signal.Notify(ch, syscall.SIGTERM)
			for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
				if !signal.Ignored(sig) { // as nohup has it, and a shell script whatever it starts with &
					signal.Notify(ch, sig)
				}
			}
			return ch, func() { signal.Stop(ch) }
		},
	}
}

// jsonOut is stderr for lines of JSON, which hold texts as they are.
func (s *state) jsonOut() io.Writer {
	if s.stderrTerminal {
		return &legibleWriter{w: s.stderr}
	}
	return s.stderr
}

func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !isNull(info)
}

func piped(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0 && !isNull(info)
}

// discarded reports whether f is the null device, opened to be read as well: that is what stands
// in the place of a stdout that was closed, and what some programs start others with when they want
// no output. A shell's >/dev/null can only be written.
func discarded(f *os.File) bool {
	if info, err := f.Stat(); err != nil || !isNull(info) {
		return false
	}
	_, err := f.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

func (s *state) env(name string) string {
	v, _ := s.lookupEnv(name)
	return v
}

// color tells whether stderr takes ANSI colours: it is a terminal that knows them, and the
// user does not object (https://no-color.org).
func (s *state) color() bool {
	if !s.stderrTerminal || s.env("NO_COLOR") != "" || s.env("TERM") == "dumb" {
		return false
	}
	if runtime.GOOS == "windows" { // the old console shows the codes themselves
		return s.env("WT_SESSION") != "" || s.env("ANSICON") != "" || s.env("ConEmuANSI") == "ON" || s.env("TERM") != ""
	}
	return true
}

// width is the terminal's as far as the shell tells, else 0.
func (s *state) width() int {
	n, err := strconv.Atoi(s.env("COLUMNS"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
