package tree

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testenv"
)

var epoch = time.Unix(1_000_000, 0)

// show is a tree at a terminal, with a clock.
type show struct {
	*Tree
	term *terminal
	now  time.Time
}

func newShow(t *testing.T, width, height int, o Options) *show {
	m := newTerminal(t, width, height)
	o.Out, o.Size = m, func() (int, int) { return m.width, m.height }
	s := &show{term: m, now: epoch}
	o.Now = func() time.Time { return s.now }
	s.Tree = New(o)
	s.is(engine.EventRun, "main", 0, &event.Run{Phase: engine.PhaseStart})
	return s
}

func (s *show) is(kind engine.EventKind, at string, attempt int, d engine.EventData) {
	s.Event(engine.Event{Kind: kind, Path: at, Attempt: attempt, At: s.now, Data: d})
}

// begin, end and asks are the events of a run about nodes and model calls.
func (s *show) begin(at, name string) {
	s.is(engine.EventNode, at, 0, &event.Node{Phase: engine.PhaseStart, Name: name})
}

func (s *show) end(at string, err *engine.Error) {
	d := &event.Node{Phase: engine.PhaseEnd, Status: engine.StatusOK, Err: err}
	if err != nil {
		d.Status = engine.StatusFailed
	}
	s.is(engine.EventNode, at, 0, d)
}

func (s *show) asks(at string) {
	s.is(engine.EventEffect, at+"/llm0", 0, &event.Effect{Phase: engine.PhaseStart, Name: "acme/large"})
}

func (s *show) answers(at string, in, out int, usd float64) {
	s.is(engine.EventEffect, at+"/llm0", 1, &event.Effect{Phase: engine.PhaseEnd, Name: "acme/large", Usage: &model.Usage{In: in, Out: out, CostUSD: usd}})
}

func (s *show) wait(d time.Duration) { s.now = s.now.Add(d) }

func (s *show) frame(d time.Duration) string {
	s.wait(d)
	s.Tick()
	return s.term.text()
}

func (s *show) wants(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("shown is\n%s\nnot\n%s", got, want)
	}
}

var odd = &engine.Error{Kind: engine.KindTool, Code: diag.Code("AS701"), Message: "3 is odd"}

// Promise 27.60 (desk): on a terminal a run is shown as a live tree: two levels, running, failed and waiting nodes
// always visible, siblings folded, each line with model, tokens, cost and time. Elsewhere each event is printed as a
// line.
func TestPromise_27_60_Tree(t *testing.T) {
	s := newShow(t, 80, 24, Options{Limits: engine.Limits{USD: engine.Dollars(1), ModelCalls: engine.AtMost(100)}})
	s.begin("main/then:main#0", "main")
	s.begin("main/then:main#0/agent:plan#0", "plan")
	s.asks("main/then:main#0/agent:plan#0")
	s.wants(t, s.frame(1200*time.Millisecond), `
⟳ main                1.2s
  ⟳ plan  acme/large  1.2s
⟳ run  1.2s  left $1.00, 100 calls
`)
	s.answers("main/then:main#0/agent:plan#0", 300, 20, 0.0123)
	s.end("main/then:main#0/agent:plan#0", nil)
	each := "main/then:main#0/each:work#0"
	s.is(engine.EventNode, each, 0, &event.Node{Phase: engine.PhaseStart, Name: "work", Items: 7}) // the seventh begins later
	for i := range 6 {
		s.begin(fmt.Sprintf("%s[%d]/agent:worker#0", each, i), "worker")
		s.asks(fmt.Sprintf("%s[%d]/agent:worker#0", each, i))
	}
	s.wait(time.Second)
	for i := range 3 {
		s.answers(fmt.Sprintf("%s[%d]/agent:worker#0", each, i), 12_000, 100, 0.1)
		s.end(fmt.Sprintf("%s[%d]/agent:worker#0", each, i), nil)
	}
	s.end(each+"[3]/agent:worker#0", odd)
	s.is(engine.EventRetry, each+"[4]/agent:worker#0/llm0", 1, &event.Retry{From: "acme/large", To: "acme/large", Wait: 3 * time.Second})
	s.is(engine.EventTool, each+"[5]/agent:worker#0/tool:search#0", 0, &event.Tool{Phase: engine.PhaseStart, Name: "search"})
	s.wants(t, s.frame(time.Second), `
⟳ main                                                    36k+320   $0.31  3.2s
  ✓ plan                                      acme/large   300+20  $0.012  1.2s
  ⟳ work  4/7 ✓3 ✗1 ⟳1 ◷1                                 36k+300   $0.30  2.0s
    ✗ worker [3]  AS701                       acme/large                   1.0s
    ◷ worker [4]  attempt 2  asks again in …  acme/large                   2.0s
    ⟳ worker [5]                              acme/large                   2.0s
      ⟳ search                                                             1.0s
⟳ run  3.2s  $0.31  left $0.69, 96 calls  1 failed  4 calls  36k+320 tokens
`)
	s.begin(each+"[6]/agent:worker#0", "worker")
	for i := 4; i < 7; i++ {
		s.end(fmt.Sprintf("%s[%d]/agent:worker#0", each, i), nil)
	}
	s.end(each, odd)
	s.end("main/then:main#0", odd)
	s.is(engine.EventRun, "main", 0, &event.Run{Phase: engine.PhaseEnd, Err: odd})
	s.Close()
	s.wants(t, s.term.text(), `
✗ main  AS701                           36k+320   $0.31  3.2s
  ✓ plan                    acme/large   300+20  $0.012  1.2s
  ✗ work  7/7 ✓6 ✗1  AS701              36k+300   $0.30  2.0s
    ✗ worker [3]  AS701     acme/large                   1.0s
✗ run  3.2s  $0.31  left $0.69, 96 calls  1 failed  4 calls  36k+320 tokens
failed main/work[3]/worker  3 is odd (AS701)
`)
	if !s.term.cursor || !s.term.wraps {
		t.Error("the terminal is not as it was")
	}
}

// Promise 27.61 (desk): the tree never exceeds the screen, redraws at most 20 times a second, and leaves at most 20
// lines behind.
func TestPromise_27_61_Frames(t *testing.T) {
	sizes := [][2]int{{80, 24}, {9, 2}, {40, 10}, {20, 5}, {200, 60}, {12, 3}}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, size := range sizes {
		s := newShow(t, size[0], size[1], Options{Limits: engine.Limits{USD: engine.Dollars(1)}})
		each := "main/each:main#0"
		s.begin(each, "main")
		branch := func(i int) string { return fmt.Sprintf("%s[%d]/agent:a#0", each, i) }
		for i := range 10_000 {
			s.begin(branch(i), strings.Repeat("工作", 20))
		}
		looks := func() {
			t.Helper()
			s.frame(time.Second)
			if s.term.highest >= size[1] || len(s.term.rows) >= size[1] || s.term.top > 0 {
				t.Errorf("at %v: %d lines were drawn", size, s.term.highest)
			}
			for _, l := range strings.Split(s.term.text(), "\n") {
				if term.Cells(l) >= size[0] {
					t.Errorf("at %v a line is too wide: %q", size, l)
				}
			}
		}
		looks()
		if made := testenv.LeastAllocs(5, func() { s.frame(time.Second) }); made > 6000 {
			t.Errorf("at %v a frame takes %v allocations", size, made)
		}
		for i := range 10_000 {
			var err *engine.Error
			if i%100 == 0 {
				err = odd
			}
			s.end(branch(i), err)
			if i%2500 == 1 {
				looks()
			}
		}
		looks()
		s.end(each, nil)
		s.is(engine.EventRun, "main", 0, &event.Run{Phase: engine.PhaseEnd})
		s.Close()
		if n := strings.Count(s.term.text(), "\n"); n > 20 {
			t.Errorf("at %v %d lines stay:\n%s", size, n, s.term.text())
		}
	}
}

// TestFrameBeforeTheFirstEvent checks that no time passes before the run has sent an event, as for a run on another
// machine.
func TestFrameBeforeTheFirstEvent(t *testing.T) {
	m := newTerminal(t, 60, 10)
	tree := New(Options{Out: m, Size: func() (int, int) { return m.width, m.height }, Now: func() time.Time { return epoch }})
	tree.Tick()
	if got := m.text(); !strings.Contains(got, "run  0.0") {
		t.Errorf("the first frame:\n%s", got)
	}
}

// TestFrameRate checks that a frame is drawn 50 ms after the last one at the earliest, and without events only for the
// times.
func TestFrameRate(t *testing.T) {
	s := newShow(t, 80, 24, Options{})
	frames := func(d time.Duration, busy bool) (n int) {
		for end := s.now.Add(d); s.now.Before(end); s.wait(time.Millisecond) {
			if busy {
				s.is(engine.EventLog, "main", 0, &event.Log{Text: "x"})
			}
			before := s.term.writes
			s.Tick()
			n += s.term.writes - before
		}
		return n
	}
	if n := frames(time.Second, true); n != 20 {
		t.Errorf("%d frames in a busy second", n)
	}
	if n := frames(time.Second, false); n > 3 {
		t.Errorf("%d frames in a second in which nothing happens", n)
	}
}

// Promise 27.62 (desk): resizing, wide characters, prints of the script and questions to people do not break the tree.
// Whatever size the terminal gets, printed text is there once and complete, and nothing is left of frames.
func TestPromise_27_62_Screens(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newShow(t, 80, 24, Options{Color: seed%2 == 0})
		s.term.reflow = reflow(seed % uint64(reflows))
		var printed []string
		open := []string{"main/each:main#0"}
		s.begin(open[0], "main")
		for i := range 60 {
			switch r.IntN(5) {
			case 0:
				at := fmt.Sprintf("%s[%d]/agent:worker#0", open[r.IntN(len(open))], i)
				s.begin(at, []string{"worker", "工作者", "a\x1b[2Jb\u202e", "👩‍🚀 e\u0301"}[r.IntN(4)])
				s.asks(at)
				open = append(open, at)
			case 1:
				said := fmt.Sprintf("print %d", i)
				printed = append(printed, "log    main  "+said)
				s.is(engine.EventLog, "main", 0, &event.Log{Text: said})
			case 2:
				if n := len(open) - 1; n > 0 {
					s.end(open[n], map[bool]*engine.Error{true: odd}[r.IntN(4) == 0])
					open = open[:n]
				}
			case 3:
				s.term.resize(22+r.IntN(100), 3+r.IntN(30))
			case 4:
				s.Hide()
				fmt.Fprintf(s.term, "Send %d? y\n", i)
				printed = append(printed, fmt.Sprintf("Send %d? y", i))
				s.Show()
			}
			s.wait(time.Duration(r.IntN(100)) * time.Millisecond)
			s.term.highest = 0
			s.Tick()
		}
		s.Tick()
		s.Hide()
		if got := strings.TrimSpace(s.term.text()); got != strings.Join(printed, "\n") {
			t.Fatalf("seed %d: what stays is\n%s\nnot\n%s", seed, got, strings.Join(printed, "\n"))
		}
	}
}

// TestKeys checks that Enter shows all children of the selected node, then none, then as before, that a node which
// disappears passes the selection to its parent, and that other keys do nothing.
func TestKeys(t *testing.T) {
	s := newShow(t, 60, 12, Options{Keys: true})
	each := "main/each:main#0"
	s.begin(each, "main")
	for i := range 20 {
		at := fmt.Sprintf("%s[%d]/agent:a#0", each, i)
		s.begin(at, "a")
		if i < 18 {
			s.end(at, nil)
		}
	}
	press := func(keys string) string {
		s.Press([]byte(keys))
		return s.frame(time.Second)
	}
	s.wants(t, press("\x1b[C\x1b[3~\x1bx\x1b"), `
⟳ main  18/20 ✓18 ⟳2  1.0s
  ⟳ a [18]            1.0s
  ⟳ a [19]            1.0s
⟳ run  1.0s  ↑↓⏎ t p
`)
	s.wants(t, press("\x1b[B\r"), `
> ⟳ main  18/20 ✓18 ⟳2  2.0s
    ✓ a [12]            0.0s
    ✓ a [13]            0.0s
    ✓ a [14]            0.0s
    ✓ a [15]            0.0s
    ✓ a [16]            0.0s
    ✓ a [17]            0.0s
    ⟳ a [18]            2.0s
    ⟳ a [19]            2.0s
    … 12 more  ✓12
⟳ run  2.0s  ↑↓⏎ t p
`)
	s.wants(t, press("\r"), `
> ⟳ main  18/20 ✓18 ⟳2  3.0s
⟳ run  3.0s  ↑↓⏎ t p
`)
	s.wants(t, press("\r\x1bOB\x1bOB"), `
  ⟳ main  18/20 ✓18 ⟳2  4.0s
    ⟳ a [18]            4.0s
>   ⟳ a [19]            4.0s
⟳ run  4.0s  ↑↓⏎ t p
`)
	s.end(each+"[19]/agent:a#0", nil)
	s.wants(t, press(""), `
> ⟳ main  19/20 ✓19 ⟳1  5.0s
    ⟳ a [18]            5.0s
⟳ run  5.0s  ↑↓⏎ t p
`)
	held := press("p")
	if !strings.Contains(held, "held: p continues") {
		t.Errorf("shown is\n%s", held)
	}
	s.is(engine.EventLog, "main", 0, &event.Log{Text: "printed meanwhile"})
	s.wants(t, s.frame(time.Second), held)
	if got := press("p"); !strings.HasPrefix(got, "log    main  printed meanwhile\n> ⟳ main") {
		t.Errorf("shown is\n%s", got)
	}
}
