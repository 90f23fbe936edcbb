package cli

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// hostile is what a model or a tool may send to a terminal: a title, the clipboard, the cursor, hiding colours, bytes
// of the older encoding, reversed and invisible letters.
const hostile = "\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x07\x1b[2A\x1b[2K\x1b[8mhidden\x1b[0m\rover\b\b\b\x9b31m\u009b1m\u202eback\u202c\u2066\u200b\ufeff\U000e0041\x7f\x00"

// hostileFlow returns a script whose model and tool output hostile, with its answers.
func hostileFlow(t *testing.T, rules, main string) (flow, answers string) {
	text := strings.ToValidUTF8(hostile, "")
	quoted := strings.NewReplacer("\x1b", `\u001b`, "\x07", `\u0007`, "\r", `\r`, "\b", `\b`, "\x00", `\u0000`).Replace(text)
	flow = written(t, "flow.star", "def send(to = str, n = int):\n    print(to)\n    return to\n\na = agent(prompt = \"Send.\", tools = [send]"+rules+")\n\n"+main+"\n")
	answers = written(t, "flow.jsonl", `{"agent": "a", "calls": [{"name": "send", "args": {"to": "`+quoted+strings.Repeat(" ", 200)+"agent a wants to call read"+`", "n": 1}}]}
{"agent": "a", "text": "`+quoted+`done"}
`)
	return flow, answers
}

// TestPipeIsExact checks that anything but a terminal gets the result byte by byte.
func TestPipeIsExact(t *testing.T) {
	flow, answers := hostileFlow(t, "", "main = a")
	code, stdout, stderr := inProcess(t, nil, "run", flow, "x", "--scripted", answers)
	if want := strings.ToValidUTF8(hostile, "") + "done\n"; code != 0 || stdout != want {
		t.Errorf("exit %d: %q, want %q", code, stdout, want)
	}
	steers(t, stderr)
}

// steers finds what a terminal would interpret.
func steers(t *testing.T, text string) {
	t.Helper()
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("%U is in %q", r, text)
			return
		}
	}
}

// uncoloured removes the colours of the command's own words, and the erasing of the line about what is awaited.
func uncoloured(text string) string {
	text = strings.ReplaceAll(text, "\r\x1b[K", "")
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "34", "1;31", "1;32", "1;33", "1;36"} {
		text = strings.ReplaceAll(text, "\x1b["+code+"m", "")
	}
	return text
}

// TestOutputOfAFile: a file gets bytes.
func TestOutputOfAFile(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if w := term.Output(f); w != f {
		t.Errorf("a file is written through %T", w)
	}
}
