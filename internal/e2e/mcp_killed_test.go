//go:build e2e && linux

package e2e

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// marked returns the living processes that were started with a variable, by their command lines.
func marked(t *testing.T, mark string) map[int]string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, []byte(mark)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // empty if it has ended in the meantime
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil && len(line) > 0 {
			found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return found
}

// The command is killed with kill -9 in the middle of a call, and ended by an interrupt: nothing is left of npx, its
// shell and the server below them.
func TestMCPNothingIsLeftOfNPX(t *testing.T) {
	installed(t, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	dir := t.TempDir()
	bin := filepath.Join(dir, "agentscript")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/agentscript/agentscript/cmd/agentscript").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, sig := range map[string]os.Signal{"kill": os.Kill, "interrupt": os.Interrupt} {
		mark := "MARK=" + name + filepath.Base(dir) + strconv.Itoa(os.Getpid())
		script := filepath.Join(dir, "long.star")
		text := `
s = mcp("npx", args = ["--prefix", "` + os.Getenv("AGENTSCRIPT_E2E_DIR") + `", "mcp-server-everything", "stdio"], env = {"MARK": "` + strings.TrimPrefix(mark, "MARK=") + `"})
main = agent(prompt = "x", model = "scripted/x", tools = [s])
`
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		answers := filepath.Join(dir, "long.jsonl")
		if err := os.WriteFile(answers, []byte(`{"agent": "main", "calls": [{"name": "trigger-long-running-operation", "args": {"duration": 300, "steps": 3000}}]}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bin, "run", script, "go", "--scripted", answers, "--allow-exec", "npx", "--json")
		events, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(events)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() && !strings.Contains(lines.Text(), `"phase":"progress"`) { // the call is in progress
		}
		before := marked(t, mark)
		if len(before) < 2 {
			t.Errorf("%s: npx and its server are %v", name, before)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // so that it can write its last output
		}
		_ = cmd.Wait() // it was ended
		deadline := time.Now().Add(20 * time.Second)
		left := marked(t, mark)
		for ; len(left) > 0 && time.Now().Before(deadline); left = marked(t, mark) {
			time.Sleep(20 * time.Millisecond)
		}
		if len(left) > 0 {
			t.Errorf("%s: of %v there are left %v", name, before, left)
		}
		t.Logf("%s: %d processes before, %d after", name, len(before), len(left))
	}
}

// The example runs with the server that it names, which npx finds in the working directory.
func TestMCPExample(t *testing.T) {
	installed(t, "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
	bin := filepath.Join(t.TempDir(), "agentscript")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/agentscript/agentscript/cmd/agentscript").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "run", filepath.Join(examples, "mcp_files.star"), "What is this?", "--scripted", filepath.Join(examples, "mcp_files.jsonl"), "--allow-exec", "npx")
	cmd.Dir = os.Getenv("AGENTSCRIPT_E2E_DIR")
	out, err := cmd.Output()
	if want := `{"answer":"It is a package.","files":["package.json"]}` + "\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
}
