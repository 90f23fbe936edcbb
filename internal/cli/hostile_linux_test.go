package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// Promise 27.72 (desk): nothing that a model, a tool or a script says reaches a terminal unescaped.
func TestPromise_27_72_Escaped(t *testing.T) {
	said := strings.ToValidUTF8(hostile, "")
	// In a string of a script, control characters are escaped.
	quoted := strings.NewReplacer("\x1b", `\x1b`, "\x07", `\a`, "\r", `\r`, "\b", `\b`, "\x00", `\x00`, "\x7f", `\x7f`).Replace(said)
	flow, answers := hostileFlow(t, "", "main = a")
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "SAID", quoted)), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	raw := script("raw.star", "# "+strings.ReplaceAll(said, "\x00", "")+"\nmain = agent(prompt = \"Hi.\") >> 1 # "+strings.ReplaceAll(said, "\x00", "")+"\n")
	loads := script("loads.star", "print(\"SAID\")\nDraft = schema(\"SAID\", title = field(str, \"SAID\"))\nKind = enum(\"SAID\", \"b\")\nx = Draft(title = 1)\nfail(\"SAID\")\n")
	shown := script("shown.star", "Draft = schema(\"SAID\", title = field(str, \"SAID\"))\nmain = agent(\"a\", output = Draft, description = \"SAID\", prompt = \"SAID\")\n")
	tested := script("said_test.star", `asked = agent("asked", prompt = "SAID")

def test_text(t):
    print("SAID")
    t.reply("asked", "SAID")
    t.eq(asked("SAID"), "b")

def test_fails(t):
    fail("SAID")

def test_unanswered(t):
    asked("SAID")

def test_kind(t):
    t.fail("asked", "server", "SAID")
    asked("x")
`)
	for name, c := range map[string]struct {
		stdin string
		args  []string
	}{
		"run":          {"", []string{"run", flow, "x", "--scripted", answers}},
		"run plain":    {"", []string{"run", flow, "x", "--scripted", answers, "--progress", "plain"}},
		"run input":    {"", []string{"run", shown, strings.ReplaceAll(said, "\x00", "")}},
		"check":        {"", []string{"check", raw, loads, shown}},
		"check schema": {"", []string{"check", "--schemas", shown}},
		"check json":   {"", []string{"check", "--format", "json", raw, loads}},
		"graph":        {"", []string{"graph", shown}},
		"test":         {"", []string{"test", tested}},
		"test json":    {"", []string{"test", "--json", tested}},
		"no file":      {"", []string{"check", "\x1b]0;owned\x07.star"}},
		"repl":         {"\"SAID\"\n[\"SAID\"]\nprint(\"SAID\")\n\"SAID\" + \"\\n\" + \"SAID\"\nDraft = schema(\"SAID\", title = field(str, \"SAID\"))\nDraft\nDraft(title = \"SAID\")\n[Draft(title = \"SAID\")]\n?Draft\n:names\nfail(\"SAID\")\n", []string{"repl"}},
		"repl error":   {"x = 1 # " + strings.ReplaceAll(said, "\x00", "") + "\nx.y # " + strings.ReplaceAll(said, "\x00", "") + "\n", []string{"repl"}},
		"repl model":   {"a(\"x\")\n", []string{"repl", flow, "--scripted", answers}},
	} {
		t.Run(name, func(t *testing.T) {
			user, tty := terminalPair(t)
			s := &term.Process{Args: c.args, Stdin: strings.NewReader(strings.ReplaceAll(c.stdin, "SAID", quoted)), Stdout: term.Output(tty), Stderr: tty, StderrTerminal: term.Terminal(tty)}
			_, text := atTerminal(t, s, user, tty)
			steers(t, withoutFrames(uncoloured(text)))
			if name != "repl error" && !strings.Contains(text, `owned`) { // a carriage return ends a line of a script
				t.Errorf("what is hostile was not shown: %s", text)
			}
		})
	}
}

// withoutFrames removes the command's own cursor movements when it redraws a line or a tree.
func withoutFrames(text string) string {
	for _, own := range []string{"\x1b[J", "\x1b[K", "\x1b[?25l", "\x1b[?25h", "\x1b[?7l", "\x1b[?7h"} {
		text = strings.ReplaceAll(text, own, "")
	}
	return text
}
