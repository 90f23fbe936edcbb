package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/temporal"
)

// followed is what a follower returned.
type followed struct {
	lines []string // what the script printed, and its phases
	ends  map[string]int
}

func (h *followed) add(events []engine.Event) {
	for _, e := range events {
		switch {
		case e.Kind == engine.EventLog:
			h.lines = append(h.lines, e.Text())
		case e.Kind == engine.EventPhase:
			h.lines = append(h.lines, "phase "+e.Name())
		case e.Phase() == engine.PhaseEnd:
			h.ends[e.Kind.String()+" "+e.Path]++
		}
	}
}

// followUntil follows a run until it has ended, or done reports true.
func (c *cluster) followUntil(f *temporal.Follower, h *followed, done func() bool) {
	c.t.Helper()
	hang.Until(c.t, "the run tells that it has ended", func() bool {
		events, _ := f.Next(c.t.Context()) // the error that no worker answers is temporary
		h.add(events)
		return h.ends["run main"] > 0 || done()
	})
}

const printingScript = `
a = agent("a", prompt = "Work.")
def main(n = int):
    for i in range(n):
        phase("part %d" % i)
        print("before", i)
        a("step %d sleep=50ms" % i)
    print("after")
    return "over"
`

func printedLines(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("phase part %d", i), fmt.Sprintf("before %d", i))
	}
	return append(all, "after")
}

// Promise 31.71 (temporal): a client that follows a run receives what its script prints, its phases, and the ends of
// its parts, each once and in order, even if its worker is killed and another one continues the run, and across new
// histories. A client that starts after the end of the run receives the same.
func TestPromise_31_71_Followed(t *testing.T) {
	c := newCluster(t, shared(t), func(j *job) { j.Events = 60 })
	first := c.worker("one")
	id := c.startRun(printingScript, withArgs(map[string]any{"n": 30}))
	f, h := c.Follow(id), &followed{ends: map[string]int{}}
	c.followUntil(f, h, func() bool { return len(h.lines) > 20 })
	_ = first.Process.Kill()
	c.worker("two")
	c.followUntil(f, h, func() bool { return false })
	late := &followed{ends: map[string]int{}}
	c.wantDone(id, "over")
	c.followUntil(c.Follow(id), late, func() bool { return false })
	for who, h := range map[string]*followed{"from the beginning": h, "afterwards": late} {
		if !slices.Equal(h.lines, printedLines(30)) {
			t.Errorf("%s: %s", who, strings.Join(h.lines, ", "))
		}
		for at, n := range h.ends {
			if n != 1 {
				t.Errorf("%s: %s ended %d times", who, at, n)
			}
		}
		if len(h.ends) != 1+2*30 { // the run, and the agent and the effect of each call
			t.Errorf("%s: %d parts ended", who, len(h.ends))
		}
	}
	if n := len(c.histories(id)); n < 3 {
		t.Errorf("it had %d histories", n)
	}
}

// Promise 31.72 (temporal): prints of branches are also received once, if histories follow each other and the end of an
// operation in progress at the end of one history is reported in the next.
func TestPromise_31_72_BranchesFollowed(t *testing.T) {
	c := newCluster(t, shared(t), func(j *job) { j.Events = 150 })
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
def one(i):
    print("begin", i)
    said = a("step %d sleep=20ms" % i)
    print("end", i)
    return said
def main(n = int):
    return str(len(parallel([lambda i=i: one(i) for i in range(n)])))
`, withArgs(map[string]any{"n": 100}))
	f, h := c.Follow(id), &followed{ends: map[string]int{}}
	c.followUntil(f, h, func() bool { return false })
	count := map[string]int{}
	for _, line := range h.lines {
		count[line]++
	}
	for line, n := range count {
		if n != 1 {
			t.Errorf("%q is heard %d times", line, n)
		}
	}
	if len(count) != 200 {
		t.Errorf("%d lines", len(count))
	}
	c.wantDone(id, "100")
	if n := len(c.histories(id)); n < 2 {
		t.Errorf("it had %d histories", n)
	}
}
