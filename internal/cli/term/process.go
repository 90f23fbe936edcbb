package term

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"github.com/agentscript/agentscript/internal/cli/tty"
)

// Process is everything that the command knows of its process, so that tests run it in process
// and nothing else in this package touches the os package's globals but files by name.
type Process struct {
	Version string   // set by the linker, or empty
	Args    []string // without the program's name
	// Parsed are the scripts as they were parsed, which verbs may load more than once.
	Parsed         interface{ Count() int }
	Stdin          io.Reader
	Stdout         io.Writer // see output
	Stderr         io.Writer // of which each writer keeps to what legible makes of texts: colours are ours
	StdinPiped     bool      // stdin is a pipe or a file, neither a terminal nor nothing
	StdoutLost     bool      // nobody reads stdout, and writing to it does not say so
	StderrTerminal bool
	StdinTerminal  bool
	// openTerminal opens the terminal that the process belongs to, until the process ends.
	OpenTerminal func() (io.ReadWriter, error)
	LookupEnv    func(name string) (string, bool)
	// signals begins to deliver interrupts; stop ends that.
	Signals func() (interrupts <-chan os.Signal, stop func())
	// kill ends the process at once.
	Kill func(code int)
	// Size returns how many cells the terminal has that stderr is; nil where nobody knows.
	Size func() (width, height int)
	// Keyboard returns the keys of the terminal that stdin is, nil where they cannot be read one by one.
	Keyboard func() Keyboard
	// OnSuspend calls before when the process is about to be suspended or ended from the terminal, and after when it
	// goes on.
	OnSuspend func(before, after func()) (stop func())
	// Chdir has commands and relative names be in another directory; nil where they stay.
	Chdir func(dir string) error
	// browse opens a URL in the user's browser.
	Browse func(url string) error
	// Exec has a program take the place of this process, or returns what came of it.
	Exec func(path string, args []string) (code int, err error)
}

// Keyboard hands on single keys while they are taken.
type Keyboard interface {
	Mine() bool // the process may use the terminal: it is in the foreground
	Take()
	Leave()               // ends that, and sets the terminal as it was: nobody reads keys when it returns
	Read(keys []byte) int // waits a moment for keys
}

// OSProcess returns the process that this is.
func OSProcess(version string) *Process {
	return &Process{
		Version: version, Args: os.Args[1:], Stdin: os.Stdin, Stdout: Output(os.Stdout), Stderr: os.Stderr,
		StdinPiped: isOf(os.Stdin, 0), StdoutLost: discarded(os.Stdout), StderrTerminal: Terminal(os.Stderr), StdinTerminal: Terminal(os.Stdin),
		OpenTerminal: func() (io.ReadWriter, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }, // which Windows does not have
		LookupEnv:    os.LookupEnv, Kill: os.Exit, Browse: browse, Chdir: os.Chdir, OnSuspend: tty.OnSuspend, Exec: execute,
		Size: func() (int, int) { return tty.Size(os.Stderr) },
		Keyboard: func() Keyboard {
			if k := tty.NewKeyboard(os.Stdin); k != nil {
				return k
			}
			return nil
		},
		Signals: func() (<-chan os.Signal, func()) {
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

// JSONOut is stderr for lines of JSON, which hold texts as they are.
func (s *Process) JSONOut() io.Writer {
	if s.StderrTerminal {
		return &safeWriter{w: s.Stderr}
	}
	return s.Stderr
}

func Terminal(f *os.File) bool { return isOf(f, os.ModeCharDevice) }

// isOf reports whether f is a device, or with 0 is none, and in any case not the null device.
func isOf(f *os.File, device os.FileMode) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == device && !isNull(info)
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

func (s *Process) Env(name string) string {
	v, _ := s.LookupEnv(name)
	return v
}

// Color reports whether stderr takes ANSI colours: it is a terminal that knows them, and the
// user does not object (https://no-color.org).
func (s *Process) Color() bool {
	return s.StderrTerminal && s.Env("NO_COLOR") == "" && s.steered()
}

// Draws reports whether stderr is a terminal on which lines can be drawn anew.
func (s *Process) Draws() bool {
	if !s.StderrTerminal || s.Size == nil || !s.steered() || s.Env("TERM") == "" && runtime.GOOS != "windows" {
		return false
	}
	width, height := s.Size()
	return width > 0 && height > 1
}

// steered reports whether a terminal knows escape sequences.
func (s *Process) steered() bool {
	if s.Env("TERM") == "dumb" {
		return false
	}
	// The old console of Windows shows the codes themselves.
	return runtime.GOOS != "windows" || s.Env("WT_SESSION") != "" || s.Env("ANSICON") != "" || s.Env("ConEmuANSI") == "ON" || s.Env("TERM") != ""
}

// Width returns the cells of a line of the terminal, 0 where nobody tells.
func (s *Process) Width() int { return s.width() }

// width is the terminal's as far as the shell tells, else 0.
func (s *Process) width() int {
	n, err := strconv.Atoi(s.Env("COLUMNS"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// browse has the system open a URL. Whether somebody sees it then nobody can tell.
func browse(url string) error {
	command := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	cmd := exec.Command(command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// execute has a program take the place of this process. Where the system does not know that, it waits for the end of the
// program.
func execute(path string, args []string) (code int, err error) {
	err = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	if !errors.Is(err, errors.ErrUnsupported) {
		return 0, err
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signal.Ignore(os.Interrupt) // the program has them as well, and decides
	err = cmd.Run()
	return cmd.ProcessState.ExitCode(), err
}
