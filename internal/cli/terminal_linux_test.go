package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// Promise 21.15 (policy): at a terminal, nothing that a model or a tool says controls the terminal: not in progress,
// printed text, errors, a question about a call or the result. No argument of a call can produce a line that looks like
// a line of the question itself. A pipe receives the result byte for byte.
func TestPromise_21_15_Terminal(t *testing.T) {
	for name, args := range map[string][]string{
		"progress": nil,
		"quiet":    {"-q"},
		"events":   {"--json"},
		"fails":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			main := "main = a"
			if name == "fails" {
				main = "def main(q = str):\n    fail(a(q))"
			}
			flow, answers := hostileFlow(t, `, policy = policy(ask = ["send"])`, main)
			user, tty := terminalPair(t)
			trace := filepath.Join(t.TempDir(), "trace")
			s := &term.Process{Args: append([]string{"run", flow, "x", "--scripted", answers, "--trace", trace}, args...), Stdin: tty, Stdout: term.Output(tty), Stderr: tty,
				StdinTerminal: term.Terminal(tty), StderrTerminal: term.Terminal(tty)}
			code, text := atTerminal(t, s, user, tty, "y")
			if name == "fails" != (code != 0) {
				t.Errorf("exit %d", code)
			}
			text = uncoloured(text)
			steers(t, text)
			asked := 0
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "agent a wants to call") {
					asked++
				}
			}
			// At the beginning of a line: an event may contain the words too, before the question or after it.
			_, question, _ := strings.Cut(text, "\nagent a wants to call")
			question, _, _ = strings.Cut(question, "y(es)")
			for line := range strings.Lines(question) {
				if len([]rune(strings.TrimRight(line, "\r\n"))) > 76 {
					t.Errorf("a line that the terminal breaks: %q", line)
				}
			}
			if asked != 1 || code == 0 && (!strings.Contains(text, `\u001b]52;c;cm0gLXJm\u0007`) || !strings.Contains(text, "done\r\n")) {
				t.Errorf("%d questions in\n%s", asked, text)
			}
		})
	}
}

// TestAwaited checks that at a terminal the last line says which model is awaited, and that the next line replaces it.
func TestAwaited(t *testing.T) {
	flow := written(t, "flow.star", "main = agent(name = \"first\", prompt = \"A.\") >> agent(name = \"second\", prompt = \"B.\")\n")
	answers := written(t, "flow.jsonl", `{"agent": "*", "text": "done", "repeat": true}`+"\n")
	user, tty := terminalPair(t)
	s := &term.Process{Args: []string{"run", flow, "x", "--scripted", answers}, Stdin: tty, Stdout: new(strings.Builder), Stderr: tty, StdinTerminal: term.Terminal(tty), StderrTerminal: term.Terminal(tty)}
	code, text := atTerminal(t, s, user, tty)
	for _, want := range []string{"\x1b[2masks   main/first  scripted\x1b[0m\r\x1b[K\x1b[32mdone  \x1b[0m main/first", "asks   main/second  scripted\x1b[0m\r\x1b[K"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit %d, shown is not %q but\n%q", code, want, text)
		}
	}
}
