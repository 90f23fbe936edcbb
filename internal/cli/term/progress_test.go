package term

import (
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
)

func TestProgressPath(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "main",
		"main":                    "main",
		"main/agent:coder#0/llm0": "coder",
		"main/then:review#0/par0[3]/agent:critic#1/llm2": "review/par[3]/critic#1",
		"main/then0/loop2[7]/fn0":                        "then/loop2[7]/fn",
		"main/agent:a#0/tool:search#10":                  "a",
		"main/loop:refine#0[12]/round1[0]/agent:b10#0":   "refine[12]/round 2/b10",
		"main/agent:llm#0":                               "llm",
		"main/then0/agent:calls#0/llm0":                  "then/calls",
		"main/each10[100]/agent:x#0":                     "each10[100]/x",
		"main/forum:panel#0/round0[1]/agent:o#0/llm0":    "panel/round 1/o",
		"main/forum:panel#0/round2[0]/then0/agent:o#0":   "panel/round 3.1/then/o",
		"main/agent:rounds#0/llm0":                       "rounds",
	} {
		if got := ProgressPath(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0.0ms", 40 * time.Microsecond: "0.0ms", 1500 * time.Microsecond: "1.5ms", 12 * time.Millisecond: "12ms",
		999 * time.Millisecond: "999ms", 1340 * time.Millisecond: "1.3s", 123 * time.Second: "2m03s", 2 * time.Hour: "120m00s",
	} {
		if got := Duration(in); got != want {
			t.Errorf("%d: got %s, want %s", in, got, want)
		}
	}
}

// A position is shown in a bounded width, by its beginning and its end.
func TestLongProgressPath(t *testing.T) {
	nested := func(n int) string { return "main" + strings.Repeat("/then:x#0", n) + "/agent:last#1/llm0" }
	for _, n := range []int{60, 70, 10_000} {
		got := ProgressPath(nested(n))
		if len([]rune(got)) > farthest || !strings.HasPrefix(got, "x/x/…/x/") || !strings.HasSuffix(got, "/x/last#1") {
			t.Errorf("%d deep: %s", n, got)
		}
	}
	long := strings.Repeat("y", 60)
	for in, want := range map[string]string{
		"main/then:a#0/then:b#0/agent:" + long + "#0":                              "a/b/" + long,
		"main/then:a#0/then:b#0/then:" + long + "#0/agent:" + long + "#0":          "a/b/…/" + long,
		"main/then:a#0/then:b#0/then:" + long + "#0/then:c#0/agent:" + long + "#0": "a/b/…/c/" + long,
		"main/agent:" + long + long + "#0":                                         long + long,
		"main/then0/loop0[1]/then0/loop0[2]/then0/each0[3]/agent:a#0/tool:t#0":     "then/loop[1]/then/loop[2]/then/each[3]/a",
		strings.TrimSuffix(nested(32), "/llm0"):                                    strings.Repeat("x/", 32) + "last#1",
	} {
		if got := ProgressPath(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// A line says what was repaired, and the agent's name once.
func TestProgressOfRepairs(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b, ProgressStyle{Verbose: true})
	p.Event(engine.Event{Kind: engine.EventRepair, Path: "main/agent:speed#1", Data: &event.Repair{Name: "speed", Text: "asked again: no JSON"}})
	p.Event(engine.Event{Kind: engine.EventRepair, Path: "main/agent:speed#1", Data: &event.Repair{Name: "fence", Text: "json → "}})
	for range 11 {
		p.Event(engine.Event{Kind: engine.EventRepair, Path: "main/agent:speed#1", Data: &event.Repair{Name: "unquoted", Text: ".a a → \"a\""}})
	}
	p.Event(engine.Event{Kind: engine.EventPhase, Path: "main", Data: &event.Phase{Name: "next"}})
	if want := "repair speed#1  asked again: no JSON\nrepair speed#1  fence: json\nrepair speed#1  unquoted ×11: .a a → \"a\", .a a → \"a\", .a a → \"a\", .a a → \"a\", .a a → \"a\", .a a → \"a\", .a a → \"a\", .a a → \"a\", .a a → …\nphase  main  next\n"; b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

// A line says whether a call is waiting for a decision or got one.
func TestProgressOfPolicies(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b, ProgressStyle{Verbose: true})
	p.Event(engine.Event{Kind: engine.EventPolicy, Path: "main/agent:a#0/tool:pay#0", Data: &event.Policy{Phase: engine.PhaseStart, Name: "ask", Text: "over 100"}})
	p.Event(engine.Event{Kind: engine.EventPolicy, Path: "main/agent:a#0/tool:pay#0", Data: &event.Policy{Phase: engine.PhaseEnd, Name: "deny", Text: "no"}})
	if want := "ask    a  ask  over 100\npolicy a  deny  no\n"; b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

// The texts of models, tools and scripts cannot control the terminal, and stay within their lines.
func TestProgressIsHarmless(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b, ProgressStyle{Verbose: true})
	p.Event(engine.Event{Kind: engine.EventLog, Path: "main", Data: &event.Log{Text: "a\x1b[2Jb\rc\nsecond\u009bd\n"}})
	p.Event(engine.Event{Kind: engine.EventTool, Path: "main/agent:x#0/tool:t#0", Data: &event.Tool{Phase: engine.PhaseStart, Name: "t", Text: "{\n\"x\":" + strings.Repeat("y", 500) + "}"}})
	if got := b.String(); strings.ContainsAny(got, "\x1b\r\u009b") || !strings.Contains(got, "\n       second") {
		t.Errorf("%q", got)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 200 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

func TestProgressOfCost(t *testing.T) {
	for want, u := range map[string]model.Usage{
		"5+2 tokens": {In: 5, Out: 2, Unpriced: 1},
		"5+2 tokens, $0.00012 and 1 call without a known price": {In: 5, Out: 2, CostUSD: 0.00012, Unpriced: 1},
		"5+2 tokens, $0.25":  {In: 5, Out: 2, CostUSD: 0.25},
		"5+2 tokens, $12.30": {In: 5, Out: 2, CostUSD: 12.3},
		"about 5+2 tokens, $0.020 and 3 calls without a known price": {In: 5, Out: 2, CostUSD: 0.02, Unpriced: 3, Estimated: true},
	} {
		if got := tokens(u); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
