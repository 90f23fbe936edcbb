package cli

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// TestInputEndsAtQuestion checks that if the input ends or fails during a question, nothing is approved: the run waits
// for a decision, and says why nobody made it.
func TestInputEndsAtQuestion(t *testing.T) {
	sends, answers := hostileFlow(t, `, policy = policy(ask = ["send"])`, "main = a")
	asks := written(t, "asks.star", "def main():\n    return approve(\"Go on?\").approved\n")
	for _, tt := range []struct {
		name  string
		typed io.Reader
		why   string
	}{
		{"nothing", strings.NewReader(""), "the input ended"},
		{"an empty line", strings.NewReader("\n"), "the input ended"},
		{"no answer", strings.NewReader("perhaps\n"), "the input ended"},
		{"a part of an answer", strings.NewReader("ye"), "the input ended"},
		{"a part of JSON", strings.NewReader("e {\ne {\"to\": \"d\"\ne [1, 2\n"), "the input ended"},
		{"a line without end", strings.NewReader("e " + strings.Repeat("x", 2<<20)), "what was typed cannot be read"},
		{"an error", iotest.ErrReader(io.ErrClosedPipe), "what was typed cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, args := range [][]string{{"run", asks}, {"run", sends, "x", "--scripted", answers}} {
				code, stdout, stderr := inProcess(t, func(s *term.Process) {
					s.Stdin, s.StdinTerminal, s.StderrTerminal = tt.typed, true, true
				}, args...)
				if code != term.ExitWaiting || stdout != "" || !strings.Contains(stderr, "no one decided: ") {
					t.Errorf("%v: exit %d, stdout %q\n%s", args, code, stdout, stderr)
				}
				if args[1] == asks && !strings.Contains(stderr, tt.why) {
					t.Errorf("%v: want %q in\n%s", args, tt.why, stderr)
				}
			}
		})
	}
}
