package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// onScreen returns the lines of a terminal of some columns after a text was written to it.
func onScreen(written string, columns int) string {
	var lines [][]rune
	row, col := 0, 0
	at := func() []rune {
		for len(lines) <= row {
			lines = append(lines, nil)
		}
		for len(lines[row]) < columns {
			lines[row] = append(lines[row], ' ')
		}
		return lines[row]
	}
	sequence := regexp.MustCompile(`^\x1b\[[?]?(\d*)( ?[A-Za-z])`)
	for written != "" {
		if m := sequence.FindStringSubmatch(written); m != nil {
			n, _ := strconv.Atoi(m[1])
			switch m[2] {
			case "A":
				row = max(0, row-max(1, n))
			case "B":
				row += max(1, n)
			case "C":
				col = min(columns-1, col+max(1, n))
			case "D":
				col = max(0, col-max(1, n))
			case "J":
				lines = lines[:min(len(lines), row+1)]
				copy(at()[col:], []rune(strings.Repeat(" ", columns)))
			case "K":
				copy(at()[col:], []rune(strings.Repeat(" ", columns)))
			}
			written = written[len(m[0]):]
			continue
		}
		r := []rune(written)[0]
		written = written[len(string(r)):]
		switch {
		case r == '\r':
			col = 0
		case r == '\n':
			row++
		case r >= ' ':
			if col == columns {
				row, col = row+1, 0
			}
			at()[col] = r
			col++
		}
	}
	var shown strings.Builder
	for _, line := range lines {
		shown.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return shown.String()
}

// asking starts a prompt on an agent whose tool call requires a person's decision.
func asking(t *testing.T) *typist {
	return atPrompt(t, process(t, map[string]string{
		"desk.star": "def refund(order = str):\n    \"\"\"Refunds an order.\"\"\"\n    return \"refunded \" + order\n\n" +
			"desk = agent(prompt = \"Help.\", tools = [refund], policy = policy(ask = [\"refund\"]))\n",
		"desk.jsonl": `{"agent": "desk", "calls": [{"name": "refund", "args": {"order": "A1"}}]}` + "\n" + `{"agent": "desk", "text": "It is done."}` + "\n",
	}, nil, "repl", "desk.star", "--scripted", "desk.jsonl"), 80)
}

// TestAskedAtAPrompt checks that a question and its possible answers stay on the screen while the answer is typed, and
// that the denied call is named readably.
func TestAskedAtAPrompt(t *testing.T) {
	p := asking(t)
	p.enter(`desk("x")`, "e(dit) JSON:")
	want := "\nagent desk wants to call refund (the rule ask refund of the script)\n  order: \"A1\"\ny(es), n(o) REASON, a(lways refund), e(dit) JSON:\n>"
	if shown := onScreen(p.seen.String(), 80); !strings.Contains(shown, want) {
		t.Errorf("the screen shows\n%s\nnot\n%s", shown, want)
	}
	p.enter("n too much", "  refund: desk.star:5:")
	p.leave()
}

// TestInterruptedWhileAsked checks that Ctrl-C ends the run that asks, but not the session.
func TestInterruptedWhileAsked(t *testing.T) {
	p := asking(t)
	p.enter("kept = 41", "")
	p.enter(`desk("x")`, "e(dit) JSON:")
	fmt.Fprint(p.user, "\x03")
	p.await("interrupted: 1 model call, ")
	p.prompted()
	p.enter("kept + 1", "42\r\n")
	if shown := p.seen.String(); strings.Contains(shown, "AS746") || strings.Contains(shown, "refunded") {
		t.Errorf("it shows %s", shown)
	}
	p.leave()
}

// TestTracedBesideAnswers checks that each line of a trace begins on a new line, even after an answer.
func TestTracedBesideAnswers(t *testing.T) {
	p := asking(t)
	p.enter(":trace on", "trace is on")
	p.enter(`desk("x")`, "e(dit) JSON:")
	p.enter("y", "It is done.\r\nanswer desk ")
	if shown := onScreen(p.seen.String(), 80); strings.Contains(shown, "tokens\n\ndone") {
		t.Errorf("an empty line is between two of the trace:\n%s", shown)
	}
	p.leave()
}

// TestBoundInBranches binds a name in several places of one statement.
func TestBoundInBranches(t *testing.T) {
	dir := t.TempDir()
	gives(t, dir, "if True:\n    y = 1\nelse:\n    y = 2\n\ny\n", "1\n")
	gives(t, dir, "for i in range(3):\n    z = i\n    z = z + 1\n\nz\n", "3\n")
	gives(t, dir, "x = 1; x = 2\nx\n", "2\n")
	gives(t, dir, "a = agent(prompt = \"A.\")\nif True:\n    n = len(a(\"x\"))\nelse:\n    n = 0\n\nn > 0\n", "True\n", "--mock")
	refuses(t, dir, "if True:\n    y = 1\nelse:\n    y = nothing\n", "undefined: nothing")
	if err := os.WriteFile(filepath.Join(dir, "flow.star"), []byte("y = 1\ny = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := piped(t, dir, "", "flow.star"); code != 1 || !strings.Contains(stderr, "AS217") {
		t.Errorf("a file that binds a name twice ends with %d and says %s", code, stderr)
	}
}
