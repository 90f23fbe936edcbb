//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/internal/cli/tree"
)

// xterm is the terminal of browsers and editors, without a screen.
type xterm struct {
	t             *testing.T
	in            io.WriteCloser
	out           *bufio.Scanner
	width, height int
	now           seen
}

// seen is what is on a terminal.
type seen struct {
	Rows, Used int // Used counts from the cursor on
	Text       string
}

func newXterm(t *testing.T, width, height int) *xterm {
	t.Helper()
	dir := filepath.Dir(filepath.Dir(filepath.Dir(installed(t, "node_modules", "@xterm", "headless"))))
	cmd := exec.Command("node", "testdata/xterm.mjs", fmt.Sprint(width), fmt.Sprint(height), dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("SKIPPED: node cannot be started:", err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error("node:", err)
		}
	})
	x := &xterm{t: t, in: in, out: bufio.NewScanner(out), width: width, height: height}
	x.out.Buffer(nil, 16<<20)
	return x
}

// do makes the terminal do something, and records what it shows then.
func (x *xterm) do(command any) {
	x.t.Helper()
	line, err := json.Marshal(command)
	if err == nil {
		_, err = x.in.Write(append(line, '\n'))
	}
	if err != nil || !x.out.Scan() {
		x.t.Fatal("the terminal does not answer:", err, x.out.Err())
	}
	if err := json.Unmarshal(x.out.Bytes(), &x.now); err != nil {
		x.t.Fatal(err)
	}
}

// Write displays what a program writes; the system turns a line feed into both characters.
func (x *xterm) Write(p []byte) (int, error) {
	x.do(map[string][]byte{"write": []byte(strings.ReplaceAll(string(p), "\n", "\r\n"))})
	return len(p), nil
}

func (x *xterm) resize(width, height int) {
	x.width, x.height = width, height
	x.do(map[string][2]int{"resize": {width, height}})
}

// TestTreeInXterm resizes a terminal while a tree is drawn on it: a frame is never as tall as the screen, printed text
// stays complete and in order, and nothing else stays except the summary.
func TestTreeInXterm(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 15))
		x := newXterm(t, []int{40, 200}[seed%2], []int{10, 60}[seed%2])
		now := time.Unix(1_000_000, 0)
		live := tree.New(tree.Options{Out: x, Size: func() (int, int) { return x.width, x.height }, Now: func() time.Time { return now }, Color: true, Keys: true})
		tell := func(kind engine.EventKind, at string, d engine.EventData) {
			live.Event(engine.Event{Kind: kind, Path: at, At: now, Data: d})
		}
		const each = "main/each:main#0"
		tell(engine.EventRun, "main", &event.Run{Phase: engine.PhaseStart})
		tell(engine.EventNode, each, &event.Node{Phase: engine.PhaseStart, Name: "main"})
		var open, want []string
		for i := range 150 {
			switch r.IntN(6) {
			case 0, 1:
				at := fmt.Sprintf("%s[%d]/agent:a#0", each, i)
				tell(engine.EventNode, at, &event.Node{Phase: engine.PhaseStart, Name: []string{"worker", "工作者", "👩‍🚀 pilot", "e\u0301tude \x1b[2J"}[r.IntN(4)]})
				tell(engine.EventEffect, at+"/llm0", &event.Effect{Phase: engine.PhaseStart, Name: "acme/largest-of-all"})
				open = append(open, at)
			case 2:
				if n := len(open) - 1; n >= 0 {
					tell(engine.EventNode, open[n], &event.Node{Phase: engine.PhaseEnd, Status: engine.StatusOK})
					open = open[:n]
				}
			case 3:
				said := fmt.Sprintf("print %d %s", i, strings.Repeat("word ", r.IntN(30)))
				want = append(want, "log    main  "+strings.TrimSpace(said))
				tell(engine.EventLog, "main", &event.Log{Text: strings.TrimSpace(said)})
			case 4:
				size := [][2]int{{40, 10}, {200, 60}, {20, 5}, {80, 24}, {120, 8}}[r.IntN(5)]
				x.resize(size[0], size[1])
			case 5:
				live.Hide()
				said := fmt.Sprintf("Send %d? y(es), n(o) REASON: y", i)
				want = append(want, said)
				fmt.Fprintln(x, said)
				live.Show()
			}
			now = now.Add(60 * time.Millisecond)
			live.Tick()
			if x.now.Used >= x.height {
				t.Fatalf("seed %d: %d of %d rows are a frame\n%s", seed, x.now.Used, x.height, x.now.Text)
			}
		}
		live.Hide()
		if got := strings.ReplaceAll(x.now.Text, "\x1b[2mlog   \x1b[0m", "log   "); strings.TrimSpace(got) != strings.Join(want, "\n") {
			t.Fatalf("seed %d: what stays is\n%s\nnot\n%s", seed, got, strings.Join(want, "\n"))
		}
		live.Close()
		if left := strings.Count(x.now.Text, "\n") - len(want); left > 20 {
			t.Errorf("seed %d: %d lines are left", seed, left)
		}
	}
}
