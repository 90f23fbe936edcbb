package cli

import (
	"errors"
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

// ended reads until the process has ended, and checks its exit code and that the terminal was restored.
func (p *typist) ended(code int) {
	p.t.Helper()
	var mode syscall.Termios
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	for p.read() == nil { // until the terminal closes with the process
	}
	exit, ok := errors.AsType[*exec.ExitError](<-ended)
	if !ok || exit.ExitCode() != code {
		p.t.Errorf("it ends with %v, not %d", exit, code)
	}
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, p.user.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&mode))); e != 0 || mode.Lflag&syscall.ICANON == 0 || mode.Lflag&syscall.ECHO == 0 {
		p.t.Errorf("the terminal is left in mode %x, %v", mode.Lflag, e)
	}
	if seen := p.seen.String(); strings.LastIndex(seen, "\x1b[?2004l") < strings.LastIndex(seen, "\x1b[?2004h") {
		p.t.Error("the terminal is left with pastes marked")
	}
	if seen := p.seen.String(); strings.LastIndex(seen, "\x1b[?25h") < strings.LastIndex(seen, "\x1b[?25l") {
		p.t.Error("the terminal is left without a cursor")
	}
}

func (p *typist) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// TestSignalsAtAPrompt checks that an interrupt between two entries is ignored, and that any other signal that ends a
// process ends the session and restores the terminal: at once while a person types, otherwise when the call has ended.
func TestSignalsAtAPrompt(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		p := atPrompt(t, process(t, nil, nil, "repl"), 80)
		p.signal(os.Interrupt)
		p.enter("1 + 1", "") // the signal may arrive after the keys, and then ends one evaluation
		p.enter("1 + 1", "")
		if shown := uncoloured(p.seen.String()); !strings.Contains(shown, "[?2004l2\r\n") {
			t.Errorf("after an interrupt there is\n%s", shown)
		}
		fmt.Fprint(p.user, "half an entr")
		p.await("half an entr")
		p.signal(sig)
		p.ended(term.ExitInterrupted)
	}
	s := llmtest.New(llmtest.Reply{Text: "The answer that never ends", Fault: llmtest.StallStream})
	defer s.Close()
	p := atPrompt(t, process(t, nil, []string{"OPENAI_API_KEY=key-of-a-test", "OPENAI_BASE_URL=" + s.OpenAI()}, "repl", "--model", "openai/x"), 80)
	p.enter("a = agent(prompt = \"Answer.\")", "")
	fmt.Fprint(p.user, "a(\"question\")\r")
	p.await("The answer")
	p.signal(syscall.SIGTERM)
	p.await("interrupted: 1 model call")
	p.ended(term.ExitInterrupted)
}

// TestTerminalIsResized resizes in the middle of an entry; a text of 1 MB is cut at the screen and paged.
func TestTerminalIsResized(t *testing.T) {
	p := atPrompt(t, process(t, nil, nil, "repl"), 80)
	fmt.Fprint(p.user, "x = [\"a text that is rather long\",\r")
	p.await("│ ")
	size := [4]uint16{10, 20}
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, p.user.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); e != 0 {
		t.Skip("the terminal takes no size:", e)
	}
	p.signal(syscall.SIGWINCH)
	p.enter("\"日本語\", \"e\u0301\"]", "")
	p.enter("len(x)", "3\r\n")
	p.enter("\"a\" * 1000000", "… 49994 more lines, :more shows them")
	p.enter(":more", "… 49987 more lines, :more shows them")
	p.enter("\"b\"", "\"b\"\r\n")
	p.enter(":more", "there is no more")
	p.leave()
}

// TestBinaryIsTyped checks that the session continues.
func TestBinaryIsTyped(t *testing.T) {
	p := atPrompt(t, process(t, nil, nil, "repl"), 80)
	fmt.Fprint(p.user, "\xff\xfe\x80abc\xc3\r") // the line editor drops invalid characters
	p.await("undefined: abc")
	p.prompted()
	p.enter("1 + 1", "2\r\n")
	p.paste("\"\x1b[31mred\x1b]0;title\x07\"\n2 + 2", "") // what is pasted is text
	fmt.Fprint(p.user, "\x03")
	p.prompted()
	p.enter("3 + 3", "6\r\n")
	p.leave()
}

// TestEnvFileIsHidden checks that keys are hidden from the first entry on, in the output and in the history.
func TestEnvFileIsHidden(t *testing.T) {
	cmd := process(t, map[string]string{"keys.env": "OPENAI_API_KEY=key-of-a-file-that-nobody-reads\n"}, nil, "repl", "--env-file", "keys.env")
	p := atPrompt(t, cmd, 80)
	p.enter("k = \"key-of-a-file-that-nobody-reads\"", "")
	p.enter("k", "\"[redacted]\"")
	p.leave()
	if kept := strings.Join(history(t, cmd.Dir), "|"); kept != "k = \"[redacted]\"|k" {
		t.Errorf("it holds %s", kept)
	}
	if code, _, stderr := piped(t, filepath.Dir(cmd.Dir), "1\n", "--env-file", "none.env"); code != term.ExitUsage || !strings.Contains(stderr, "none.env") {
		t.Errorf("it ends with %d\n%s", code, stderr)
	}
}
