package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// session is a run at its own terminal, and the person there.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	user   *os.File
	pieces chan string
	shown  strings.Builder
	seen   int // end of the awaited part of the output
}

// seated runs a script at a terminal; its models answer with the replies.
func seated(t *testing.T, script string, args []string, replies ...llmtest.Reply) *session {
	t.Helper()
	provider := llmtest.New(replies...)
	t.Cleanup(provider.Close)
	return seatedAt(t, process(t, map[string]string{"flow.star": script}, []string{"TERM=xterm", "OPENAI_API_KEY=key-of-a-test", "OPENAI_BASE_URL=" + provider.OpenAI()},
		append([]string{"run", "flow.star", "go", "--model", "openai/gpt-5-mini"}, args...)...))
}

// seatedAt starts a command at a terminal.
func seatedAt(t *testing.T, cmd *exec.Cmd) *session {
	t.Helper()
	user, tty := terminalPair(t)
	s := &session{t: t, cmd: cmd, user: user, pieces: make(chan string)}
	s.cmd.Env = append(s.cmd.Env, "TMPDIR="+s.cmd.Dir)
	s.control(syscall.TIOCSWINSZ, unsafe.Pointer(&[4]uint16{24, 80}))
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	go func() {
		defer close(s.pieces)
		piece := make([]byte, 4096)
		for {
			n, err := user.Read(piece)
			if n > 0 {
				s.pieces <- string(piece[:n])
			}
			if err != nil { // nobody has the terminal open any more
				return
			}
		}
	}()
	return s
}

func (s *session) control(request uintptr, arg unsafe.Pointer) {
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, s.user.Fd(), request, uintptr(arg)); e != 0 {
		s.t.Fatal(e)
	}
}

// sees waits until a text is shown, after what was awaited before.
func (s *session) sees(want string) {
	s.t.Helper()
	for {
		if i := strings.Index(s.shown.String()[s.seen:], want); i >= 0 {
			s.seen += i + len(want)
			return
		}
		piece, ok := <-s.pieces
		if !ok {
			s.t.Fatalf("%q is not shown behind %q but %q", want, s.shown.String()[:s.seen], s.shown.String()[s.seen:])
		}
		s.shown.WriteString(piece)
	}
}

func (s *session) types(keys string) {
	s.t.Helper()
	if _, err := fmt.Fprint(s.user, keys); err != nil {
		s.t.Fatal(err)
	}
}

// lines checks whether the terminal is in line mode, and echoes what is typed, or delivers single keys.
func (s *session) lines(want bool) {
	s.t.Helper()
	var mode syscall.Termios
	s.control(syscall.TCGETS, unsafe.Pointer(&mode))
	if got := mode.Lflag&syscall.ICANON != 0; got != want || got != (mode.Lflag&syscall.ECHO != 0) || mode.Lflag&syscall.ISIG == 0 {
		s.t.Errorf("the terminal's mode is %b", mode.Lflag)
	}
}

// ends waits for the end of the run, and checks the state of the terminal.
func (s *session) ends(code int) {
	s.t.Helper()
	for piece := range s.pieces {
		s.shown.WriteString(piece)
	}
	_ = s.cmd.Wait() // the exit code says more
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit %d\n%q", got, s.shown.String())
	}
	s.lines(true)
	shown := s.shown.String()
	if strings.LastIndex(shown, "\x1b[?25l") > strings.LastIndex(shown, "\x1b[?25h") {
		s.t.Errorf("the cursor is hidden: %q", shown)
	}
}

const stalled = `main = agent(name = "a", prompt = "Wait.")`

// Promise 27.63 (desk): keys expand nodes and pause. Ctrl-C once cancels with a summary, twice exits.
func TestPromise_27_63_Keys(t *testing.T) {
	t.Run("keys", func(t *testing.T) {
		s := seated(t, stalled, nil, llmtest.Reply{Fault: llmtest.StallHeaders})
		s.sees("⟳\x1b[0m a")
		s.lines(false)
		s.types("p")
		s.sees("held: p continues")
		s.types("p")
		s.sees("↑↓⏎ t p")
		s.types("\x1b[B")
		s.sees("> ")
		s.types("\rt")
		s.sees("trace  ")
		name, _, _ := strings.Cut(s.shown.String()[s.seen:], " ")
		s.sees("so far")
		if trace, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(trace), `{"kind":"run","phase":"start"`) || filepath.Dir(name) != s.cmd.Dir {
			t.Errorf("the trace is %q %v", trace, err)
		}
		s.types("\x03") // once
		s.sees("run")
		s.ends(term.ExitInterrupted)
		if shown := s.shown.String(); strings.Count(shown, "error\x1b[0m") > 1 || !strings.Contains(shown, "AS712") {
			t.Errorf("shown is %q", shown)
		}
	})
	t.Run("a question", func(t *testing.T) {
		s := seated(t, "def send(to = str):\n    print(\"sent to \" + to)\n    return \"ok\"\n\nmain = agent(name = \"a\", prompt = \"Send.\", tools = [send], policy = policy(ask = [\"send\"]))\n", nil,
			llmtest.Reply{Calls: []llmtest.Call{{ID: "1", Name: "send", Args: `{"to": "ann"}`}}}, llmtest.Reply{Fault: llmtest.StallHeaders})
		s.sees("e(dit) JSON: ")
		s.lines(true)
		s.types("p\r") // an ordinary line, and not a key
		s.sees(`"p" is no answer`)
		s.sees("e(dit) JSON: ")
		s.types("y\r")
		s.sees("sent to ann")
		s.sees("↑↓⏎ t p")
		s.lines(false)
		s.types("p")
		s.sees("held")
		s.types("\x03")
		s.ends(term.ExitInterrupted)
	})
	t.Run("suspended", func(t *testing.T) {
		s := seated(t, stalled, nil, llmtest.Reply{Fault: llmtest.StallHeaders})
		s.sees("⟳\x1b[0m a")
		s.types("\x1a")
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(s.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("the process was not stopped: %v %v", status, err)
		}
		s.lines(true)
		s.sees("\x1b[?25h")
		if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		s.sees("⟳\x1b[0m a")
		s.lines(false)
		s.types("\x03")
		s.ends(term.ExitInterrupted)
	})
	t.Run("quit", func(t *testing.T) {
		s := seated(t, stalled, nil, llmtest.Reply{Fault: llmtest.StallHeaders})
		s.sees("⟳\x1b[0m a")
		s.types("\x1c")
		s.ends(2)
	})
	t.Run("twice", func(t *testing.T) {
		signals, killed, left := make(chan os.Signal), make(chan bool), false
		c := &term.Console{Process: &term.Process{Signals: func() (<-chan os.Signal, func()) { return signals, func() {} }, Kill: func(code int) { killed <- left && code == term.ExitInterrupted }}}
		c.Draw(display{&left})
		ctx, stop := c.Interruptible()
		defer stop()
		signals <- os.Interrupt
		<-ctx.Done()
		if left {
			t.Error("the first interrupt leaves")
		}
		signals <- os.Interrupt
		if !<-killed {
			t.Error("the terminal is not left as it was")
		}
	})
}

// display is left before the process ends.
type display struct{ left *bool }

func (display) Hide()     {}
func (display) Show(bool) {}
func (d display) Leave()  { *d.left = true }
