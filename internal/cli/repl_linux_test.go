package cli

import (
	"bytes"
	"encoding/json"
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

// typist is a person at a prompt.
type typist struct {
	t    *testing.T
	cmd  *exec.Cmd
	user *os.File
	seen bytes.Buffer
	from int // offset up to which the output was examined
}

// atPrompt starts the prompt at a terminal of some columns.
func atPrompt(t *testing.T, cmd *exec.Cmd, columns uint16) *typist {
	t.Helper()
	user, tty := terminalPair(t)
	size := [4]uint16{24, columns}
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); e != 0 {
		t.Skip("the terminal takes no size:", e)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	p := &typist{t: t, cmd: cmd, user: user}
	p.prompted()
	return p
}

// await reads until a text was written after what was examined before.
func (p *typist) await(text string) string {
	p.t.Helper()
	for {
		shown := uncoloured(p.seen.String())[p.from:]
		if i := strings.Index(shown, text); i >= 0 {
			p.from += i + len(text)
			return shown[:i+len(text)]
		}
		if err := p.read(); err != nil {
			p.t.Fatalf("%q does not come (%v):\n%s", text, err, shown)
		}
	}
}

// read reads what the terminal shows.
func (p *typist) read() error {
	buf := make([]byte, 4096)
	n, err := p.user.Read(buf)
	p.seen.Write(buf[:n])
	if bytes.Contains(buf[:n], []byte("\x1b[6n")) {
		p.t.Error("the terminal is asked where its cursor is: keys that come with the answer are lost")
	}
	return err
}

// prompted waits until the line editor reads: what is typed earlier may be lost.
func (p *typist) prompted() {
	p.t.Helper()
	p.await("[?2004h")
	p.await("[?25h")
}

// enter types an entry, and waits for its output.
func (p *typist) enter(entry, want string) {
	p.t.Helper()
	fmt.Fprint(p.user, entry+"\r")
	p.await(want)
	p.prompted()
}

// paste pastes a text and enters it.
func (p *typist) paste(block, want string) {
	p.t.Helper()
	fmt.Fprint(p.user, "\x1b[200~"+block+"\x1b[201~")
	p.await(block[strings.LastIndex(block, "\n")+1:])
	fmt.Fprint(p.user, "\r")
	p.await(want)
	p.prompted()
}

// leave ends the session with Ctrl-D.
func (p *typist) leave() {
	p.t.Helper()
	fmt.Fprint(p.user, "\x04")
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	for p.read() == nil { // until the terminal closes with the process
	}
	if err := <-ended; err != nil {
		p.t.Errorf("it ends with %v", err)
	}
}

// history returns the entries that a prompt kept.
func history(t *testing.T, home string) (entries []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, ".local", "state", "agentscript", "history", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files of history are %v, %v", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history has mode %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var entry string
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries
}

// Promise 27.11 (desk): Enter submits a whole statement; a pasted block with blank lines is one entry, whose
// top-level statements run one after the other, and the up arrow brings it back whole, to be edited.
func TestPromise_27_11_Entries(t *testing.T) {
	p := atPrompt(t, process(t, nil, nil, "repl"), 80)
	p.enter("1 + 2", "3\r\n")
	fmt.Fprint(p.user, "def double(x):\r    return [x,\r        x]\r\r")
	p.enter("double(21)", "[21, 21]")
	block := "def twice(x):\n    y = helper(x)\n\n    return y\n\ndef helper(x):\n    return 2 * x\n\n\ntwice(21)"
	p.paste(block, "42\r\n")
	fmt.Fprint(p.user, "\x1b[A") // up
	p.await("twice(21)")
	p.enter(" + 1", "43\r\n")
	var long strings.Builder
	for i := range 200 {
		fmt.Fprintf(&long, "v%d = %d\n", i, i)
	}
	p.paste(long.String()+"v0 + v199", "199\r\n")
	p.leave()
}

// Promise 27.16 (desk): tokens of a model are shown as they arrive. Ctrl-C ends the call but not the session, keeps the
// names and reports what was spent; at the prompt it clears the line. Ctrl-D on an empty line exits.
func TestPromise_27_16_Interrupt(t *testing.T) {
	s := llmtest.New(llmtest.Reply{Text: "The answer that never ends", Fault: llmtest.StallStream}, llmtest.Reply{Text: "It is done."})
	defer s.Close()
	p := atPrompt(t, process(t, nil, []string{"OPENAI_API_KEY=key-of-a-test", "OPENAI_BASE_URL=" + s.OpenAI()}, "repl", "--model", "openai/x"), 80)
	p.enter("kept = 41", "")
	p.enter("a = agent(prompt = \"Answer.\")", "")
	fmt.Fprint(p.user, "a(\"question\")\r")
	p.await("The answer")
	fmt.Fprint(p.user, "\x03")
	p.await("interrupted: ")
	p.prompted()
	p.enter("kept + 1", "42\r\n")
	fmt.Fprint(p.user, "not to be run\x03")
	p.prompted()
	p.enter("a(\"again\")", "It is done.")
	p.enter("_ + \"!\"", "\"It is done.!\"")
	p.leave()
}

// Promise 27.18 (desk): history is kept per project, has mode 0600, contains no key, is shared by two prompts and
// survives a kill. An entry is appended before it is evaluated.
func TestPromise_27_18_History(t *testing.T) {
	cmd := process(t, nil, []string{"OPENAI_API_KEY=key-of-a-test-that-nobody-reads"}, "repl")
	home := cmd.Dir
	p := atPrompt(t, cmd, 80)
	p.enter("first = 1", "")
	p.enter("k = \"key-of-a-test-that-nobody-reads\"", "")
	fmt.Fprint(p.user, "while len([1]) < 2 or True:\r    first\r\r") // it ends after its steps at the latest
	for len(history(t, home)) < 3 {
		if err := p.read(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	kept := strings.Join(history(t, home), "|")
	if !strings.HasPrefix(kept, "first = 1|k = ") || !strings.Contains(kept, "while len") || strings.Contains(kept, "nobody-reads") {
		t.Errorf("it holds %s", kept)
	}
	again := func() *exec.Cmd {
		next := process(t, nil, nil, "repl")
		next.Dir, next.Env[1] = home, "HOME="+home
		return next
	}
	one, two := atPrompt(t, again(), 80), atPrompt(t, again(), 80)
	one.enter("of_one = 1", "")
	two.enter("of_two = 2", "")
	fmt.Fprint(two.user, "\x1b[A\x1b[A")
	two.await("of_one = 1")
	fmt.Fprint(two.user, "\x03")
	two.prompted()
	one.leave()
	two.leave()
}

// Promise 27.22 (desk): binary input, a line of 10 MB, an endless loop, a terminal of 20 columns and a reader that
// disappears leave the session usable, or end it with an error.
func TestPromise_27_22_BadInput(t *testing.T) {
	dir := t.TempDir()
	refuses(t, dir, "x = \"\x00\xff\"\n", "error[AS101]", "NUL")
	refuses(t, dir, "\xff\xfe\x00\x01\n", "error[AS101]")
	refuses(t, dir, "x = \""+strings.Repeat("a", 10<<20)+"\"\n", "longer than an entry may be")
	refuses(t, dir, "while True:\n    pass\n", "the statement takes too many steps", "may not end")
	p := atPrompt(t, process(t, nil, nil, "repl"), 20)
	p.enter("\"a text that is longer than the terminal is wide\"", "wide\"\r\n")
	p.enter("list(range(100))", ":more shows them")
	p.enter(":more", "… ")
	p.leave()
	code, _, _ := inProcess(t, func(s *term.Process) { s.Stdin, s.StdinPiped, s.Stdout = strings.NewReader("1\n2\n"), true, gone{} }, "repl")
	if code != term.ExitFailed {
		t.Errorf("nobody reads what it writes, and it ends with %d", code)
	}
	refuses(t, dir, "def f():\n    return f()\n\nf()\n", "error[")
}

// gone is a reader that is closed.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// Promise 27.17 (desk): errors are shown as `check` shows them, and `:fix` applies an offered fix to the entry.
func TestPromise_27_17_Errors(t *testing.T) {
	p := atPrompt(t, process(t, nil, nil, "repl"), 80)
	p.enter("a = agent(promt = \"A.\")", "error[AS202]")
	p.enter(":fix", "a = agent(prompt = \"A.\")\r\n")
	p.enter("a", "agent a: str → str")
	p.enter(":fix", "no error with a fix")
	p.leave()
}

// Promise 27.10 (desk): `agentscript repl [FILE]` shows its prompt without a key, a model or a network; only a call
// of a model needs one.
func TestPromise_27_10_Start(t *testing.T) {
	p := atPrompt(t, process(t, map[string]string{"flow.star": "a = agent(prompt = \"A.\", model = \"openai/x\")\n"}, nil, "repl", "flow.star"), 80)
	p.enter("a", "agent a: str → str")
	p.enter("a(\"x\")", "OPENAI_API_KEY is not set")
	p.enter("1 + 1", "2\r\n")
	p.leave()
}

// Promise 27.13 (desk): completion offers names, keyword arguments, fields of schemas, strings of enums, agents, files
// and commands, each with a line of documentation.
func TestPromise_27_13_Completion(t *testing.T) {
	cmd := process(t, nil, nil, "repl", "desk.star")
	for name, text := range map[string]string{
		"desk.star":          "Draft = schema(\"A draft.\", title = field(str, \"what it is called\"), tone = enum(\"calm\", \"loud\"))\nwriter = agent(prompt = \"W.\", output = Draft)\n",
		"parts/lines.star":   "# The lines of a letter.\nopening = \"Dear\"\nclosing = \"Yours\"\n",
		"parts/letters.star": "# Letters.\n",
		"answers.txt":        "the answer is 42\n",
	} {
		path := filepath.Join(cmd.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := atPrompt(t, cmd, 100)
	p.enter("d = Draft(title = \"rain\", tone = \"calm\")", "")
	for _, row := range []struct{ typed, behind, want string }{
		{"wri", "", "agent writer: str → Draft"},
		{"[wri", " , \"b\"][1] + \"!\"", "b!"},
		{"Draft(ti", "\"a\", tone = \"calm\").tone + \"!\"", "calm!"},
		{"Draft(title = \"ä\", tone = \"lo", "\").tone + \"!\"", "loud!"},
		{"\"is %d\" % len(\"ä\" + d.tit", ")", "is 6"},
		{"\"w\" + (\"r\" if d.tone == \"ca", "\" else \"x\")", "\"wr\""},
		{"repr(par(writer, on_error = \"ke", "\"))", "parallel: str"},
		{"load(\"parts/lin", "\", \"opening\")", ""},
		{"load(\"parts/lines.star\", \"clo", "\")", ""},
		{"ope", " + \", \" + closing", "Dear, Yours"},
		{"file(\"ans", "\")", "the answer is 42"},
		{"def last(items):\r    size = len(items)\r    return items[si", " - 1]\r", ""},
		{"last([\"x\", \"y\"]) + \"!\"", "", "y!"},
		{":ty", " (d, 1)", "tuple"},
		{":type Draft(title = \"b\", tone = \"lo", "\").tone + \"!\"", "str\r\n"},
		{":load parts/lin", "", ""},
		{":lo", "parts/letters.star", ""},
		{":graph wri", "", "flowchart"},
	} {
		fmt.Fprint(p.user, row.typed+"\t"+row.behind+"\r")
		p.await(row.want)
		p.prompted()
	}
	for _, row := range []struct{ typed, line string }{
		{"writer(\"a\").t", "str: what it is called"},
		{"agent(m", "notes that the model can read"},
		{":m", "show the rest of what was cut"},
		{":run writ", "str -> Draft"},
		{":run writer ", ":run NAME INPUT: run a node"},
		{"load(\"parts/l", "The lines of a letter."},
	} {
		fmt.Fprint(p.user, row.typed+"\t")
		p.await(row.line)
		fmt.Fprint(p.user, "\x03")
		p.prompted()
	}
	p.leave()
}

// What Tab inserts stays when more is typed. Several candidates are listed, those that fit the place first; Tab then
// chooses among them, and one Ctrl-C clears the line, the choice and the list.
func TestTab(t *testing.T) {
	p := atPrompt(t, process(t, nil, nil, "repl"), 100)
	p.enter("Verdict = schema(score = int, süß = str, note = str)", "")
	p.enter("v = Verdict(score = 7, süß = \"ja\", note = \"n\")", "")
	p.enter("long_name = 5", "")
	p.enter("E = enum(\"ßfoo\", \"ßfob\")", "")
	p.enter("S = schema(e = E)", "")
	for _, row := range []struct{ typed, want string }{
		{"long_\t+ 1", "6\r\n"},
		{"[long_\t]", "[5]\r\n"},
		{"str(long_\t)", "\"5\"\r\n"},
		{"v.sc\t- 1", "6\r\n"},
		{"v.sü\t+ \"!\"", "\"ja!\"\r\n"},
		{"S(e = \"ß\t\t\t\").e + \"!\"", "\"ßfob!\"\r\n"},
		{"Verdict(sco\t2, süß = \"\", note = \"\").score + 1", "3\r\n"},
		{"def twice(x):\r\treturn 2 * x\r\rtwice(4)", "8\r\n"},
	} {
		p.enter(row.typed, row.want)
	}
	for _, row := range []struct{ typed, first, then string }{
		{"agent(pro", "prompt = ", "proceed"},
		{"Verdict(s", "score = ", "schema"},
		{"v.", "score", "note"},
		{"l", "long_name", "list"},
	} {
		for _, choice := range []string{"", "\t", "\t\t"} {
			fmt.Fprint(p.user, row.typed+"\t")
			if shown := p.await(row.first + " "); strings.Contains(shown, row.then+" ") {
				t.Errorf("behind %s there is first %q", row.typed, shown)
			}
			p.await(row.then + " ")
			fmt.Fprint(p.user, choice+"\x03")
			p.prompted()
			p.enter("long_\t* 3", "15\r\n")
		}
	}
	fmt.Fprint(p.user, "\x12twi")
	p.await("twice(4)")
	fmt.Fprint(p.user, "\x03")
	p.prompted()
	p.enter("long_\t* 4", "20\r\n")
	p.leave()
}
