//go:build e2e

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// terminalOf runs a command at its own terminal, whose screen is an xterm. While the command runs, terminalOf calls
// each from time to time, with the number of the call.
func terminalOf(t *testing.T, x *xterm, cmd *exec.Cmd, each func(n int, size func(width, height int), typed io.Writer)) error {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("SKIPPED: there are no terminals here:", err)
	}
	defer user.Close()
	control := func(request uintptr, arg unsafe.Pointer) {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, user.Fd(), request, uintptr(arg)); e != 0 {
			t.Fatal(e)
		}
	}
	var unlock, n int32
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(syscall.TIOCGPTN, unsafe.Pointer(&n))
	size := func(width, height int) {
		control(syscall.TIOCSWINSZ, unsafe.Pointer(&[4]uint16{uint16(height), uint16(width)}))
		if width != x.width || height != x.height {
			x.resize(width, height)
		}
	}
	size(x.width, x.height)
	tty, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(os.Environ(), append([]string{"TERM=xterm-256color", "CI=", "NO_COLOR=1"}, cmd.Env...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	pieces := make(chan []byte)
	go func() {
		defer close(pieces)
		for {
			piece := make([]byte, 64<<10)
			n, err := user.Read(piece)
			if n > 0 {
				pieces <- piece[:n]
			}
			if err != nil { // the other end was closed
				return
			}
		}
	}()
	beats := time.NewTicker(150 * time.Millisecond)
	defer beats.Stop()
	for calls := 0; ; {
		select {
		case piece, ok := <-pieces:
			if !ok {
				return cmd.Wait()
			}
			x.do(map[string][]byte{"write": piece})
		case <-beats.C:
			each(calls, size, user)
			calls++
		}
	}
}

// command builds the command, and writes files into a new directory.
func command(t *testing.T, files map[string]string) (bin, dir string) {
	t.Helper()
	dir = t.TempDir()
	bin = filepath.Join(dir, "agentscript")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/agentscript/agentscript/cmd/agentscript").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return bin, dir
}

const treeFlow = `
def look(word = str):
    """Looks a word up."""
    if word == "odd":
        fail("there is no such word")
    return "it is 工作"

plan = agent(name = "plan", prompt = "Plan.", tools = [look])
worker = agent(name = "worker", prompt = "Work.")
reviews = agent(name = "security", prompt = "Review.") / agent(name = "速度", prompt = "Review.")
work = each(worker)

def main(q = str):
    print("what is wanted: " + plan(q))
    done = work(["part %d" % i for i in range(30)])
    print("\x1b[2J%d parts, \u5de5\u4f5c" % len(done))
    return reviews("\n".join(done))
`

// TestTreeLeavesASummary compares what is on the terminal after a run.
func TestTreeLeavesASummary(t *testing.T) {
	bin, dir := command(t, map[string]string{"flow.star": treeFlow, "flow.jsonl": `{"agent": "plan", "calls": [{"name": "look", "args": {"word": "odd"}}, {"name": "look", "args": {"word": "even"}}], "usage": {"in": 120, "out": 30}}
{"agent": "*", "text": "done", "repeat": true}
`})
	for _, size := range [][2]int{{40, 10}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			x := newXterm(t, size[0], size[1])
			cmd := exec.Command(bin, "run", "flow.star", "go", "--scripted", "flow.jsonl", "--trace", "trace.jsonl", "--max-model-calls", "100", "--output", "result")
			cmd.Dir = dir
			if err := terminalOf(t, x, cmd, func(int, func(int, int), io.Writer) {}); err != nil {
				t.Fatal(err, x.now.Text)
			}
			golden := fmt.Sprintf("testdata/tree_%d.txt", size[0])
			if *update {
				if err := os.WriteFile(golden, []byte(x.now.Text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || x.now.Text != string(want) {
				t.Errorf("what stays is\n%s\nnot\n%s%v", x.now.Text, want, err)
			}
		})
	}
}

// TestTreeOfALiveRun resizes the terminal of a slow run, presses keys, and ends it.
func TestTreeOfALiveRun(t *testing.T) {
	bin, dir := command(t, map[string]string{"flow.star": treeFlow})
	for _, interrupted := range []bool{false, true} {
		t.Run(map[bool]string{false: "whole", true: "interrupted"}[interrupted], func(t *testing.T) {
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				select {
				case <-time.After(250 * time.Millisecond):
				case <-r.Context().Done():
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"id":"1","object":"chat.completion","model":"gpt-5-mini","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"done"}}],"usage":{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150}}`)
			}))
			defer provider.Close()
			x := newXterm(t, 80, 24)
			cmd := exec.Command(bin, "run", "flow.star", "go", "--model", "openai/gpt-5-mini", "--output", "result", "--max-in-flight", "4")
			cmd.Dir = dir
			cmd.Env = []string{"OPENAI_BASE_URL=" + provider.URL + "/v1", "OPENAI_API_KEY=sk-e2e", "TMPDIR=" + dir}
			err := terminalOf(t, x, cmd, func(n int, size func(int, int), typed io.Writer) {
				switch n {
				case 2:
					fmt.Fprint(typed, "\x1b[B\rt") // down, expand, the trace so far
				case 3, 6:
					fmt.Fprint(typed, "p")
				case 8:
					if interrupted {
						fmt.Fprint(typed, "\x03")
					}
				}
				if n > 2 && n%2 == 1 {
					next := [][2]int{{40, 10}, {200, 60}, {60, 8}, {80, 24}}[n/2%4]
					size(next[0], next[1])
				}
			})
			failed, _ := errors.AsType[*exec.ExitError](err)
			text := x.now.Text
			wants := []string{"log    main  what is wanted: done\n", "log    main  \\u001b[2J30 parts, 工作\n", "trace  " + dir, "30/30"}
			if interrupted {
				wants = append(wants[:1:1], wants[2])
			}
			if interrupted != (failed != nil && failed.ExitCode() == 130) || !interrupted && err != nil {
				t.Errorf("the run ended with %v", err)
			}
			for _, want := range wants {
				if strings.Count(text, want) != 1 {
					t.Errorf("what stays has not once %q:\n%s", want, text)
				}
			}
			if got := regexp.MustCompile(`(?m)^[⟳✓✗-] run `).FindAllString(text, -1); len(got) != 1 {
				t.Errorf("there are %d summaries:\n%s", len(got), text)
			}
		})
	}
}
