package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// noting returns a main function that runs operations on a bank in order and returns the last result.
func noting(m *agent.MemoryBank, ops ...[3]string) engine.Func {
	return engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		out := ""
		for _, op := range ops {
			var err error
			if out, err = run.Memory(b, m, agent.MemoryOp(op[0]), op[1], op[2]); err != nil {
				return generable.Value{}, err
			}
		}
		return generable.StrOf(out), nil
	})
}

func ran(t *testing.T, spec run.Spec) string {
	t.Helper()
	out, err := run.Exec(sched.NewGoSched(t.Context()), &spec)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.Str(out)
}

// Promise 22.1 (memory): a slot of a memory can be read, written and appended to, and searched without regard to case.
// Each agent has its own slot, or all share one, and a memory may be limited to its last lines or tokens.
func TestPromise_22_1_Slots(t *testing.T) {
	long := strings.Repeat("x", 30)
	for _, tt := range []struct {
		name string
		bank agent.MemoryBank
		ops  [][3]string
		want string
	}{
		{"nothing was written", agent.MemoryBank{}, [][3]string{{"read", "a", ""}}, ""},
		{"a write replaces", agent.MemoryBank{}, [][3]string{{"write", "a", "one"}, {"write", "a", "two"}, {"read", "a", ""}}, "two"},
		{"an append adds lines", agent.MemoryBank{}, [][3]string{{"append", "a", "one"}, {"append", "a", "two\n"}, {"append", "a", "three"}, {"read", "a", ""}}, "one\ntwo\nthree"},
		{"slots do not see each other", agent.MemoryBank{}, [][3]string{{"write", "a", "one"}, {"write", "b", "two"}, {"read", "a", ""}}, "one"},
		{"a search knows no case", agent.MemoryBank{}, [][3]string{{"write", "a", "The Key\nthe lock\nKEYS"}, {"search", "a", "kEy"}}, "The Key\nKEYS"},
		{"a search finds nothing", agent.MemoryBank{}, [][3]string{{"write", "a", "x"}, {"search", "a", "y"}}, ""},
		{"a search of nothing finds every line", agent.MemoryBank{}, [][3]string{{"write", "a", "x\n\ny"}, {"search", "a", ""}}, "x\ny"},
		{"the last lines stay", agent.MemoryBank{MaxLines: 2}, [][3]string{{"write", "a", "1\n2\n3\n"}, {"read", "a", ""}}, "2\n3\n"},
		{"and those of an append", agent.MemoryBank{MaxLines: 2}, [][3]string{{"write", "a", "1\n2"}, {"append", "a", "3"}, {"read", "a", ""}}, "2\n3"},
		{"the last tokens stay, in whole lines", agent.MemoryBank{MaxTokens: 3}, [][3]string{{"write", "a", "12345\n6789\nabcdef"}, {"read", "a", ""}}, "6789\nabcdef"},
		{"of one line that is longer its end", agent.MemoryBank{MaxTokens: 2}, [][3]string{{"write", "a", long + "12345678"}, {"read", "a", ""}}, "12345678"},
		{"characters, not bytes", agent.MemoryBank{MaxTokens: 1}, [][3]string{{"write", "a", "äöüß"}, {"read", "a", ""}}, "äöüß"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.bank.Name = "notes"
			if got := ran(t, run.Spec{Main: noting(&tt.bank, tt.ops...)}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for shared, want := range map[bool]string{false: "note of b", true: "note of a\nnote of b"} {
		c := enginetest.Compose()
		bank := c.Memory(diag.Span{}, agent.MemoryBank{Name: "notes", Shared: shared})
		noted := func(name string) *flow.Node {
			return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Prompt: "P.", Memory: bank})
		}
		main := c.Then(c.Op("then"), noted("a"), noted("b"))
		c.Sound(t)
		h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			last := e.Req.(*model.Request).Messages
			result := last[len(last)-1].Parts[0].Result
			call := model.ToolCall{ID: "c", Name: "memory_append", Args: `{"content": "note of ` + e.Agent + `"}`}
			switch {
			case result != nil && result.Name == "memory_read":
				return enginetest.Answer(result.Text)
			case result != nil:
				call = model.ToolCall{ID: "d", Name: "memory_read", Args: "{}"}
			}
			return engine.Outcome{Response: &model.Response{Parts: []model.Part{{Kind: model.PartCall, Call: &call}}, Finish: model.FinishCalls}}
		})
		if got := ran(t, run.Spec{Node: main, Input: generable.StrOf("go"), Handler: h, Model: "test/model"}); got != want {
			t.Errorf("shared is %t: agent b reads %q, want %q", shared, got, want)
		}
	}
}

func TestMemoryRefuses(t *testing.T) {
	bank := &agent.MemoryBank{Name: "notes"}
	for _, tt := range []struct {
		name string
		bank *agent.MemoryBank
		ops  [][3]string
		code diag.Code
	}{
		{"10 MB", bank, [][3]string{{"write", "a", strings.Repeat("x", 10<<20)}}, diag.MemoryLimit},
		{"what grows too large", bank, [][3]string{{"write", "a", strings.Repeat("x", 1<<20)}, {"append", "a", "y"}}, diag.MemoryLimit},
		{"what is no text", bank, [][3]string{{"write", "a", "a\xffb"}}, diag.MemoryLimit},
		{"a session's where there is none", &agent.MemoryBank{Name: "notes", Session: true}, [][3]string{{"read", "a", ""}}, diag.NoSession},
	} {
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Main: noting(tt.bank, tt.ops...)})
		if !errors.Is(err, &engine.Error{Code: tt.code}) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.code)
		}
	}
}

// Promise 22.3 (memory): reads and writes are effects. A replay reads the same, whatever the order of concurrent
// branches was, and a run that is resumed halfway continues with the notes as they were, each line once.
func TestPromise_22_3_Recorded(t *testing.T) {
	const branches = 6
	bank := &agent.MemoryBank{Name: "notes", Shared: true}
	for seed := range uint64(60) {
		stop := int(seed % 13) // effects after which the run is cancelled; 0: never
		j := &store.Memory{}
		main := func(fail func() error) engine.Func {
			return engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
				seen := make([]string, branches)
				err := run.CallsAt(b, "each").All(branches, 0, func(i int, br engine.Branch) error {
					for n := range 2 {
						if err := fail(); err != nil {
							return err
						}
						if _, err := run.Memory(br, bank, agent.MemoryAppend, "", fmt.Sprintf("%d.%d", i, n)); err != nil {
							return err
						}
					}
					var err error
					seen[i], err = run.Memory(br, bank, agent.MemoryRead, "", "")
					return err
				})
				if err != nil {
					return generable.Value{}, err
				}
				all, err := run.Memory(b, bank, agent.MemoryRead, "", "")
				return generable.StrOf(strings.Join(append(seen, all), "|")), err
			})
		}
		var mu sync.Mutex
		left := stop
		failing := func() error {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				return errors.New("stop")
			}
			return nil
		}
		sound := func() error { return nil }
		_, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Main: main(failing), Journal: j})
		if (err != nil) != (stop > 0 && stop <= 2*branches) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		first, err := run.Exec(sched.NewCoopSched(seed+1000), &run.Spec{Main: main(sound), Journal: j})
		if err != nil {
			t.Fatal(err)
		}
		again, err := run.Exec(sched.NewCoopSched(rand.Uint64()), &run.Spec{Main: main(sound), Journal: j})
		if err != nil || enginetest.Str(first) != enginetest.Str(again) {
			t.Errorf("seed %d: first %q, then %q, %v", seed, enginetest.Str(first), enginetest.Str(again), err)
		}
		all := enginetest.Str(first)[strings.LastIndex(enginetest.Str(first), "|")+1:]
		lines := strings.Split(all, "\n")
		have := map[string]int{}
		for _, l := range lines {
			have[l]++
		}
		if len(lines) != 2*branches || len(have) != 2*branches {
			t.Errorf("seed %d: the notes are %q", seed, lines)
		}
	}
}

// Promise 22.2 (memory): `agent(memory = notes)` gives the model memory_read, memory_write, memory_append and
// memory_search over its own slot, and the model is told what is wrong with a note: too long, or no text.
func TestPromise_22_2_Tools(t *testing.T) {
	c := enginetest.Compose()
	bank := c.Memory(diag.Span{}, agent.MemoryBank{Name: "notes"})
	agent := func(name string) *flow.Node {
		return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Prompt: "P.", Memory: bank})
	}
	main := c.Then(c.Op("then"), agent("a"), agent("b"))
	c.Sound(t)
	var results []string
	turn := 0
	h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req := e.Req.(*model.Request)
		for _, p := range req.Messages[len(req.Messages)-1].Parts {
			if p.Result != nil {
				results = append(results, fmt.Sprint(p.Result.Text, p.Result.IsError))
			}
		}
		if len(req.Tools) != 4 {
			t.Errorf("agent %s has %d tools", e.Agent, len(req.Tools))
		}
		calls := []model.ToolCall{
			{Name: "memory_write", Args: `{"content": "the key\nthe lock"}`}, {Name: "memory_append", Args: `{"content": "a hook"}`},
			{Name: "memory_search", Args: `{"query": "THE"}`}, {Name: "memory_write", Args: `{"content": "` + strings.Repeat("x", 2<<20) + `"}`}, {Name: ""},
			{Name: "memory_read"}, {Name: ""},
		}
		call := calls[turn]
		turn++
		if call.Name == "" {
			return enginetest.Answer("done")
		}
		call.ID = fmt.Sprint("c", turn)
		return engine.Outcome{Response: &model.Response{Parts: []model.Part{{Kind: model.PartCall, Call: &call}}, Finish: model.FinishCalls}}
	})
	ran(t, run.Spec{Node: main, Input: generable.StrOf("go"), Handler: h, Model: "test/model"})
	want := []string{"saved: 2 lines nowfalse", "saved: 3 lines nowfalse", "the key\nthe lockfalse",
		`error: memory "notes" takes 1048576 bytes, and write would make it 2097152true`, "false"}
	if strings.Join(results, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", results, want)
	}
}

func TestNamesOfMemory(t *testing.T) {
	c := enginetest.Compose()
	c.Memory(diag.Span{}, agent.MemoryBank{Name: "notes"})
	c.Memory(diag.Span{}, agent.MemoryBank{Name: "notes"})
	c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "P.", Tools: []*agent.Tool{{Name: "memory_read", Class: engine.ClassRead}}})
	if got := strings.Join(c.Codes(), " "); got != "AS508 AS508" {
		t.Error(got)
	}
}

// Promise 22.12 (memory): a model's operations on its notes in one answer are executed in the order of the answer, on
// every scheduler and in every replay, however many calls run concurrently. Its other calls run concurrently with them.
func TestPromise_22_12_OrderOfAnswer(t *testing.T) {
	asked := []model.ToolCall{
		{Name: "memory_write", Args: `{"content": "one"}`}, {Name: "beside"}, {Name: "memory_read"}, {Name: "memory_append", Args: `{"content": "two"}`},
		{Name: "memory_search", Args: `{"query": "t"}`}, {Name: "beside"}, {Name: "nothing"}, {Name: "memory_write", Args: `{"content": "three"}`}, {Name: "memory_read"},
		{Name: "memory_write", Args: `{}`}, {Name: "memory_append", Args: `{"content": "four"}`}, {Name: "memory_read"},
	}
	want := []string{"saved: one line now", "beside", "one", "saved: 2 lines now", "two", "beside", "error: there is no tool", "saved: one line now", "three", "error: bad arguments", "saved: 2 lines now", "three\nfour"}
	for _, atOnce := range []int{1, 2, 8} {
		c := enginetest.Compose()
		bank := c.Memory(diag.Span{}, agent.MemoryBank{Name: "notes"})
		beside := &agent.Tool{Name: "beside", Doc: "Is done beside.", Run: engine.GoFunc("beside", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			return generable.StrOf("beside"), nil
		})}
		main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "P.", Memory: bank, Tools: []*agent.Tool{beside}, ToolsAtOnce: atOnce})
		c.Sound(t)
		run := func(how string, s engine.Sched, j engine.Journal) {
			t.Helper()
			var results []string
			h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
				req := e.Req.(*model.Request)
				if len(req.Messages) > 1 {
					for _, p := range req.Messages[len(req.Messages)-1].Parts {
						results = append(results, p.Result.Text)
					}
					return enginetest.Answer("done")
				}
				r := &model.Response{Finish: model.FinishCalls}
				for i, call := range asked {
					call.ID = fmt.Sprint("c", i)
					r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: &call})
				}
				return engine.Outcome{Response: r}
			})
			if _, err := run.Exec(s, &run.Spec{Node: main, Input: generable.StrOf("go"), Handler: h, Model: "test/model", Journal: j}); err != nil {
				t.Fatal(err)
			}
			if results != nil && !slices.EqualFunc(results, want, strings.HasPrefix) {
				t.Errorf("%s, %d at once: %q, want %q", how, atOnce, results, want)
			}
		}
		for seed := range uint64(60) {
			j := &store.Memory{}
			run(fmt.Sprint("seed ", seed), sched.NewCoopSched(seed), j)
			before := j.IDs()
			run(fmt.Sprint("a replay of seed ", seed), sched.NewCoopSched(seed+1), j)
			if after := j.IDs(); !slices.Equal(before, after) {
				t.Errorf("a replay records %v beside %v", after, before)
			}
		}
		for range 20 {
			run("goroutines", sched.NewGoSched(t.Context()), nil)
		}
	}
}
