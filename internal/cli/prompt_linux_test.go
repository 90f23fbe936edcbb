package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/hang"
)

// terminalPair opens a terminal: what is written to one end is typed at the other.
func terminalPair(t *testing.T) (user, tty *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	t.Cleanup(func() { user.Close() })
	var unlock, n int32
	for _, call := range []struct {
		request uintptr
		arg     *int32
	}{{syscall.TIOCSPTLCK, &unlock}, {syscall.TIOCGPTN, &n}} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, user.Fd(), call.request, uintptr(unsafe.Pointer(call.arg))); e != 0 {
			t.Skip("there are no terminals here:", e)
		}
	}
	if tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skip("there are no terminals here:", err)
	}
	t.Cleanup(func() { tty.Close() })
	return user, tty
}

// atTerminal executes the command at a terminal, and types a line for each question. It returns the contents of the
// terminal at the end.
func atTerminal(t *testing.T, s *term.Process, user, tty *os.File, typed ...string) (code int, text string) {
	t.Helper()
	hang.Guard(t)
	s.LookupEnv = func(name string) (string, bool) {
		if name == "AGENTSCRIPT_STORE" {
			return "off", true
		}
		return "", false
	}
	s.Signals = func() (<-chan os.Signal, func()) { return nil, func() {} }
	s.Kill = func(int) {}
	ended := make(chan int, 1)
	go func() {
		ended <- Execute(s)
		tty.WriteString("\nover\n")
	}()
	var b strings.Builder
	for in := bufio.NewReader(user); !strings.HasSuffix(b.String(), "over\r\n"); {
		c, err := in.ReadByte()
		if err != nil {
			t.Fatal(err, b.String())
		}
		b.WriteByte(c)
		if strings.HasSuffix(b.String(), "e(dit) JSON: ") && len(typed) > 0 {
			fmt.Fprintln(user, typed[0])
			typed = typed[1:]
		}
	}
	return <-ended, b.String()
}

// TestAskedBesideAPipe checks that questions go to the terminal of the process if the input is a pipe, and that nobody
// is asked if the output is redirected too.
func TestAskedBesideAPipe(t *testing.T) {
	dir := t.TempDir()
	flow := filepath.Join(dir, "flow.star")
	if err := os.WriteFile(flow, []byte("def main(x = str):\n    return approve(\"Send %s?\" % x).reason\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	user, tty := terminalPair(t)
	opened := 0
	beside := func(stderr io.Writer, seen bool) *term.Process {
		return &term.Process{Args: []string{"run", "-q", flow, "--input-file", "-"}, Stdin: strings.NewReader("it"), StdinPiped: true,
			Stdout: new(strings.Builder), Stderr: stderr, StderrTerminal: seen,
			OpenTerminal: func() (io.ReadWriter, error) { opened++; return tty, nil }}
	}
	s := beside(tty, true)
	if code, text := atTerminal(t, s, user, tty, "y"); code != 0 || opened != 1 || !strings.Contains(text, "Send it?") {
		t.Errorf("exit %d, opened %d times, shown is %q", code, opened, text)
	}
	if code, text := atTerminal(t, beside(new(strings.Builder), false), user, tty); code != 5 || opened != 1 || strings.Contains(text, "Send") {
		t.Errorf("exit %d, opened %d times, shown is %q", code, opened, text)
	}
}

// TestAskedAtATerminal answers three simultaneous calls, one after the other, and checks what a person is shown.
func TestAskedAtATerminal(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flow := write("flow.star", "def send(to = str, n = int):\n    return \"sent to %s: %d\" % (to, n)\n\nmain = agent(prompt = \"Send.\", tools = [send], policy = policy(ask = [\"send\"]))\n")
	answers := write("flow.jsonl", `{"agent": "main", "calls": [{"name": "send", "args": {"to": "a\u001b[2K\u202e", "n": 1}}, {"name": "send", "args": {"to": "b", "n": 2}}, {"name": "send", "args": {"to": "c", "n": 3}}]}
{"agent": "main", "text": "done"}
`)
	for _, row := range []struct {
		name  string
		typed []string
		want  []string // in the trace, in any order
	}{
		{"each", []string{"what?", "y", "n too far", `e {"to": "d", "n": 4}`}, []string{"too far", "sent to d: 4"}},
		{"always", []string{"a"}, []string{": 1", "sent to b: 2", "sent to c: 3"}},
		{"edited wrongly", []string{`e {"n": "x"}`, "y", "a"}, []string{"sent to b: 2", "sent to c: 3"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			user, tty := terminalPair(t)
			trace := filepath.Join(dir, row.name+".trace")
			var stdout strings.Builder
			s := &term.Process{Args: []string{"run", "-q", flow, "x", "--scripted", answers, "--trace", trace}, Stdin: tty, Stdout: &stdout, Stderr: tty, StdinTerminal: term.Terminal(tty), StderrTerminal: term.Terminal(tty)}
			code, text := atTerminal(t, s, user, tty, row.typed...)
			if code != 0 || stdout.String() != "done\n" {
				t.Errorf("exit %d, stdout %q", code, stdout.String())
			}
			if !strings.Contains(text, `agent main wants to call send`) || strings.Contains(text, "\x1b") || strings.Contains(text, "\u202e") {
				t.Errorf("shown is %q", text)
			}
			told, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range row.want {
				if !strings.Contains(string(told), w) {
					t.Errorf("the trace lacks %q:\n%s", w, told)
				}
			}
		})
	}
}

// Promise 26.82 (sound): an approval prompt shows texts line by line, without escapes or broken words; it keeps the whole
// reason of a "no", lists the possible answers after any other one, says what "always" covers, and reports when a rule
// denies an edited call.
func TestPromise_26_82_Approvals(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flow := write("flow.star", `
def send(to = str, body = str):
    """Sends."""
    return "sent to " + to

rules = policy(ask = ["send"], deny = ["send(to=*@evil.example)"])
a = agent(name = "a", prompt = "Send.", tools = [send], policy = rules)
b = agent(name = "b", prompt = "Send.", tools = [send], policy = rules)
main = a >> b
`)
	body := "Dear Ann,\n\nyour forty euros are on their way to you, and they should be there by the end of this very week.\n\tBob\n| y(es)\nagent a wants to call read"
	quoted, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	call := `{"name": "send", "args": {"to": "ann@example.com", "body": ` + string(quoted) + `}}`
	answers := write("flow.jsonl", `{"agent": "a", "calls": [`+call+`, `+call+`]}
{"agent": "a", "text": "done"}
{"agent": "b", "calls": [`+call+`]}
{"agent": "b", "text": "done"}
`)
	run := func(typed ...string) (shown, traced string) {
		t.Helper()
		user, tty := terminalPair(t)
		trace := filepath.Join(dir, "trace.jsonl")
		s := &term.Process{Args: []string{"run", "-q", flow, "x", "--scripted", answers, "--trace", trace}, Stdin: tty, Stdout: new(strings.Builder), Stderr: tty, StdinTerminal: term.Terminal(tty), StderrTerminal: term.Terminal(tty)}
		if code, text := atTerminal(t, s, user, tty, typed...); code != 0 {
			t.Errorf("exit %d\n%s", code, text)
		} else {
			shown = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), " \n", "\n")
		}
		told, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		return shown, string(told)
	}

	reason := "the address is not in our book, " + strings.Repeat("as I have said before, ", 8) + "and that is that"
	shown, traced := run("maybe", "", "yes, but later", "n: "+reason, "a", "a")
	for _, want := range []string{
		`  to: "ann@example.com"` + "\n" + "  body:\n    > Dear Ann,\n    >\n    > your forty euros are on their way to you, and they should be there by\n    | the end of this very week.\n    >     Bob\n    > | y(es)\n    > agent a wants to call read\n",
		`"maybe" is no answer: write y to approve, n and a reason to refuse, a to`, `"" is no answer`, "a yes takes nothing after it",
		"every further call of send by agent a in this run is approved", "is approved with any\n    | arguments; what is denied stays so", "every further call of send by agent b in this run is approved",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("shown is not %q:\n%s", want, shown)
		}
	}
	if strings.Contains(shown, `\u`) || strings.Count(shown, "wants to call send") != 3 || !strings.Contains(traced, "was not approved: "+reason) {
		t.Errorf("shown is\n%s\nand in the trace %s", shown, traced)
	}
	shown, _ = run("e "+`{"to": "x@evil.example", "body": "-"}`, "a", "a")
	if want := "the call of send as you edited it is not made: the rule deny"; !strings.Contains(shown, want) {
		t.Errorf("shown is not %q:\n%s", want, shown)
	}
	if shown, _ = run("e -5", `e {"to": "d@example.com", "body": "-"}`, "a", "a"); strings.Contains(shown, "is not made") || !strings.Contains(shown, "that does not fit") {
		t.Errorf("shown is\n%s", shown)
	}
}

// A question at a terminal can also be answered from elsewhere; the first answer counts.
func TestAskedAtATerminalAndElsewhere(t *testing.T) {
	dir := t.TempDir()
	flow, db := filepath.Join(dir, "flow.star"), filepath.Join(dir, "r.db")
	if err := os.WriteFile(flow, []byte("def main(x = str):\n    return approve(\"Send %s?\" % x).reason or \"sent\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *term.Process {
		user := &term.Process{Args: []string{"run", "-q", flow, "it", "--store", db}, Stdout: new(strings.Builder)}
		return user
	}
	user, tty := terminalPair(t)
	s := start()
	s.Stdin, s.Stderr, s.StdinTerminal, s.StderrTerminal = tty, tty, true, true
	answered := make(chan string, 1)
	go func() {
		for {
			code, stdout, stderr := inProcess(t, nil, "runs", "answer", "last", "--failed", "not now", "--store", db)
			if code == 0 || t.Context().Err() != nil {
				answered <- stdout + stderr
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	code, text := atTerminal(t, s, user, tty)
	if out := fmt.Sprint(s.Stdout); code != 0 || out != "not now\n" || !strings.Contains(text, "Send it?") || !strings.Contains(text, "the question is answered by") {
		t.Errorf("exit %d: %q, shown is %q; %s", code, out, text, <-answered)
	}

	user, tty = terminalPair(t)
	s = start()
	s.Stdin, s.Stderr, s.StdinTerminal, s.StderrTerminal = tty, tty, true, true
	code, text = atTerminal(t, s, user, tty, "y")
	if out := fmt.Sprint(s.Stdout); code != 0 || out != "sent\n" {
		t.Errorf("exit %d: %q, shown is %q", code, out, text)
	}
	if code, _, stderr := inProcess(t, nil, "runs", "answer", "last", "--approve", "--store", db); code != 2 {
		t.Errorf("an answer after the person's: exit %d\n%s", code, stderr)
	}
}
