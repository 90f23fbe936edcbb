package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/cli/tty"
	"github.com/agentscript/agentscript/internal/hang"
)

// A line that is typed after the keyboard was left belongs to the next reader, for example a question.
func TestKeysAreLeft(t *testing.T) {
	hang.Guard(t)
	user, terminal := terminalPair(t)
	k := tty.NewKeyboard(terminal)
	over, pressed := make(chan struct{}), make(chan string)
	defer close(over)
	go func() {
		var keys [64]byte
		for {
			n := k.Read(keys[:])
			select {
			case <-over:
				return
			default:
			}
			if got := string(keys[:n]); got == "p" {
				pressed <- got
			} else if n > 0 {
				fmt.Fprintf(user, "read as keys: %q\n", got) // so that nobody waits for it
			}
		}
	}()
	for range 10 {
		k.Take()
		fmt.Fprint(user, "p")
		<-pressed
		k.Leave()
		fmt.Fprint(user, "y\n")
		var line [64]byte
		if n, err := terminal.Read(line[:]); err != nil || string(line[:n]) != "y\n" {
			t.Fatalf("the line is %q %v", line[:n], err)
		}
		if n, err := io.ReadFull(user, line[:len("y\r\n")]); err != nil { // echoed as it was typed
			t.Fatalf("shown is %q %v", line[:n], err)
		}
	}
}

// Keys make watched tests run again.
func TestWatchKeys(t *testing.T) {
	files := map[string]string{
		"a_test.star": "def test_one(t):\n    t.eq(1, 1)\n\ndef test_two(t):\n    t.eq(1, 2)\n",
		"b_test.star": "def test_three(t):\n    t.snapshot(\"x\")\n",
	}
	watched := func(t *testing.T) *session {
		s := seatedAt(t, process(t, files, []string{"TERM=xterm"}, "test", "--watch"))
		s.sees("2 failed, 1 passed")
		s.sees("; ? lists the keys\r\n")
		return s
	}
	t.Run("keys", func(t *testing.T) {
		s := watched(t)
		s.lines(false)
		s.types("?")
		s.sees("store their snapshots")
		s.sees("q  quit\r\n")
		s.types("f")
		s.sees("\n2 failed in")
		s.sees("? lists the keys")
		s.types("u")
		s.sees("1 failed, 2 passed in")
		if _, err := os.Stat(filepath.Join(s.cmd.Dir, "b_test.snap")); err != nil {
			t.Error(err)
		}
		s.types("f")
		s.sees("\n1 failed in")
		s.types("\x1b[A") // not a key
		s.types("p")
		s.sees("empty for all: ")
		s.types("test_thx\x7free\r")
		s.sees("test_thx\b \bree\r\n")
		s.sees("1 passed in")
		s.sees("tests that match \"test_three\"")
		s.types("p")
		s.sees("empty for all: ")
		s.types("no\x1b")
		s.types("a")
		s.sees("1 passed in")
		s.types("p")
		s.sees("empty for all: ")
		s.types("\r")
		s.sees("1 failed, 2 passed in")
		s.types("q")
		s.ends(term.ExitOK)
	})
	t.Run("interrupted", func(t *testing.T) {
		s := watched(t)
		s.types("p")
		s.sees("empty for all: ")
		s.types("\x03")
		s.ends(term.ExitInterrupted)
	})
	t.Run("pipe", func(t *testing.T) {
		cmd := process(t, files, []string{"TERM=xterm"}, "test", "--watch")
		cmd.Stdin = strings.NewReader("q\na\n")
		code, shown := awaited(t, cmd, "watching", func(p *os.Process) {
			if err := p.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		})
		if code != term.ExitInterrupted || strings.Contains(shown, "keys") {
			t.Errorf("exit %d\n%s", code, shown)
		}
	})
}
