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

// Process is everything that the command knows about its process. It lets tests run the command in process, and nothing
// else in this package uses globals of the os package, except for files by name.
type Process struct {
	Version string   // set by the linker, or empty
	Args    []string // without the program's name
	// Parsed holds the parsed scripts, which verbs may load more than once.
	Parsed         interface{ Count() int }
	Stdin          io.Reader
	Stdout         io.Writer // see Output
	Stderr         io.Writer // each writer passes texts through legible; colours are ours
	StdinPiped     bool      // stdin is a pipe or a file, not a terminal and not empty
	StdoutLost     bool      // nobody reads stdout, and writing to it reports no error
	StderrTerminal bool
	StdinTerminal  bool
	// OpenTerminal opens the terminal that the process belongs to, until the process ends.
	OpenTerminal func() (io.ReadWriter, error)
	LookupEnv    func(name string) (string, bool)
	// Signals starts to deliver interrupts; stop ends that.
	Signals func() (interrupts <-chan os.Signal, stop func())
	// Kill ends the process at once.
	Kill func(code int)
	// Size returns the number of cells of the terminal at stderr; nil if it cannot be determined.
	Size func() (width, height int)
	// Keyboard returns the keyboard of the terminal at stdin, nil if single keys cannot be read.
	Keyboard func() Keyboard
	// OnSuspend calls before when the process is about to be suspended or ended from the terminal, and after when it
	// continues.
	OnSuspend func(before, after func()) (stop func())
	// Chdir changes the directory of commands and relative names; nil if it cannot change.
	Chdir func(dir string) error
	// Browse opens a URL in the user's browser.
	Browse func(url string) error
	// Exec replaces this process by a program, or returns the program's result.
	Exec func(path string, args []string) (code int, err error)
}

// Keyboard delivers single keys while they are taken.
type Keyboard interface {
	Mine() bool // the process is in the foreground and may use the terminal
	Take()
	Leave()               // ends that, and restores the terminal: no key is read after it returns
	Read(keys []byte) int // waits briefly for keys
}

// OSProcess returns the current process.
func OSProcess(version string) *Process {
	return &Process{
		Version: version, Args: os.Args[1:], Stdin: os.Stdin, Stdout: Output(os.Stdout), Stderr: os.Stderr,
		StdinPiped: isOf(os.Stdin, 0), StdoutLost: discarded(os.Stdout), StderrTerminal: Terminal(os.Stderr), StdinTerminal: Terminal(os.Stdin),
		OpenTerminal: func() (io.ReadWriter, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }, // Windows does not have it
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
				if !signal.Ignored(sig) { // as set by nohup, and by shell scripts for background commands
					signal.Notify(ch, sig)
				}
			}
			return ch, func() { signal.Stop(ch) }
		},
	}
}

// JSONOut returns stderr for lines of JSON, which contain texts unchanged.
func (s *Process) JSONOut() io.Writer {
	if s.StderrTerminal {
		return &safeWriter{w: s.Stderr}
	}
	return s.Stderr
}

func Terminal(f *os.File) bool { return isOf(f, os.ModeCharDevice) }

// isOf reports whether f is a device or, with 0, is not one. The null device is neither.
func isOf(f *os.File, device os.FileMode) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == device && !isNull(info)
}

// discarded reports whether f is the null device, opened for reading too: that is what replaces a closed stdout, and
// what some programs pass to others when they want no output. A shell's >/dev/null can only be written.
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

// Color reports whether stderr supports ANSI colours: it is a terminal that supports them, and the user has not
// disabled them (https://no-color.org).
func (s *Process) Color() bool {
	return s.StderrTerminal && s.Env("NO_COLOR") == "" && s.steered()
}

// Draws reports whether stderr is a terminal on which lines can be redrawn.
func (s *Process) Draws() bool {
	if !s.StderrTerminal || s.Size == nil || !s.steered() || s.Env("TERM") == "" && runtime.GOOS != "windows" {
		return false
	}
	width, height := s.Size()
	return width > 0 && height > 1
}

// steered reports whether a terminal supports escape sequences.
func (s *Process) steered() bool {
	if s.Env("TERM") == "dumb" {
		return false
	}
	// The old console of Windows shows the codes themselves.
	return runtime.GOOS != "windows" || s.Env("WT_SESSION") != "" || s.Env("ANSICON") != "" || s.Env("ConEmuANSI") == "ON" || s.Env("TERM") != ""
}

// Width returns the cells of a line of the terminal, or 0 if it is unknown.
func (s *Process) Width() int { return s.width() }

// width returns the terminal's width as reported by the shell, or 0.
func (s *Process) width() int {
	n, err := strconv.Atoi(s.Env("COLUMNS"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// browse makes the system open a URL. It cannot know whether anybody sees it.
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

// execute replaces this process by a program. If the system does not support that, it runs the program and waits for
// its end.
func execute(path string, args []string) (code int, err error) {
	err = syscall.Exec(path, append([]string{path}, args...), os.Environ())
	if !errors.Is(err, errors.ErrUnsupported) {
		return 0, err
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signal.Ignore(os.Interrupt) // the program receives them too, and decides
	err = cmd.Run()
	return cmd.ProcessState.ExitCode(), err
}
