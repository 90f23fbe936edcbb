package conformance

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/agentscript/agentscript/internal/hang"
)

// terminal is the terminal of a command: what is written to user is typed, and what it shows is recorded.
type terminal struct {
	user  *os.File
	mu    sync.Mutex
	text  strings.Builder
	ended chan struct{} // closed when nothing more is shown
}

// atTerminal starts a command at a new terminal.
func atTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	t.Cleanup(func() { user.Close() })
	var unlock, n int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &n} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, user.Fd(), request, uintptr(unsafe.Pointer(arg))); e != 0 {
			t.Skip("there are no terminals here:", e)
		}
	}
	tty, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	cmd.Stdin, cmd.Stderr = tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	x := &terminal{user: user, ended: make(chan struct{})}
	go func() {
		defer close(x.ended)
		for in := bufio.NewReader(user); ; {
			c, err := in.ReadByte()
			if err != nil {
				return
			}
			x.mu.Lock()
			x.text.WriteByte(c)
			x.mu.Unlock()
		}
	}()
	return x
}

func (x *terminal) shown() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.text.String()
}

// Promise 30.12 (durable): an equal second answer changes nothing, and a different one is an error that names who
// answered what and when. A prompt and runs answer compete, and the first commit wins.
func TestPromise_30_12_SameAnswerTwice(t *testing.T) {
	const flow = "def main(x = str):\n    d = approve(\"Send %s?\" % x)\n    return \"%s, %s\" % (d.approved, d.reason) + wait(\"more\")\n"
	const step = "main/approval0"
	for _, tt := range []struct {
		name  string
		typed string   // at the prompt, first
		sent  []string // by runs answer, first
		out   string
		named []string // by what rejects another answer
	}{
		{"runs answer is first", "", []string{"--failed", "not today"}, "False, not today", []string{"ann by agentscript runs answer", "not today"}},
		{"the prompt is first", "n too late", nil, "False, too late", []string{"in the process of the run", "too late"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t, flow)
			h.env = append(h.env, "USER=ann")
			cmd := h.command(nil, "run", "flow.star", "it")
			x := atTerminal(t, cmd)
			waits := func() bool { return strings.Contains(h.run(nil, "runs", "show", "last").stdout, "waits") }
			hang.Until(t, "the question is asked", func() bool { return strings.Contains(x.shown(), "Send it?") && waits() })
			answer := func(args ...string) output {
				return h.run(nil, append([]string{"runs", "answer", "last", step}, args...)...)
			}
			if tt.typed != "" {
				if _, err := io.WriteString(x.user, tt.typed+"\n"); err != nil {
					t.Fatal(err)
				}
			} else if out := answer(tt.sent...); out.code != 0 {
				t.Fatalf("exit %d\n%s", out.code, out.stderr)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 5 { // it is waiting for more
				t.Fatalf("%v at\n%s", err, x.shown())
			}
			if said := strings.Contains(x.shown(), "the question is answered by ann"); said != (tt.typed == "") {
				t.Errorf("it says who answered: %v\n%s", said, x.shown())
			}
			another := answer("--approve")
			if another.code == 0 {
				t.Errorf("another answer is taken: %s%s", another.stdout, another.stderr)
			}
			for _, want := range append(tt.named, time.Now().UTC().Format("2006-01-")) {
				if !strings.Contains(another.stderr, want) {
					t.Errorf("what refuses another answer lacks %q:\n%s", want, another.stderr)
				}
			}
			if tt.typed == "" {
				if same := answer(tt.sent...); same.code != 0 {
					t.Errorf("an equal answer: exit %d\n%s", same.code, same.stderr)
				}
			}
			if out := h.run(nil, "runs", "answer", "last", "more", "--result", `"."`); out.code != 0 {
				t.Fatal(out.stderr)
			}
			if out := h.run(nil, "runs", "resume", "last", "-q"); out.code != 0 || out.stdout != tt.out+".\n" {
				t.Errorf("exit %d: %q\n%s", out.code, out.stdout, out.stderr)
			}
		})
	}
}
