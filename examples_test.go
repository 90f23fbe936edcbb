package agentscript_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/llm"
)

// examples are the flows of examples/, with what they give. Each runs offline, on answers
// from the file beside it where it needs a model.
var examples = []struct {
	file string
	in   []agentscript.RunOption
	want string
}{
	{"shapes.star", input("circle"), "circle r=6.0"},
	{"shapes.star", input("rect"), "rect 2.0x3.0"},
	{"shapes.star", input("triangle"), "tri b=4.0"},
	{"area.star", input("circle"), "area=113.1"},
	{"area.star", input("rect"), "area=6.0"},
	{"review.star", input("def f(): pass"), "Deployed with confidence 0.95"},
	{"reviewers.star", input("x = eval(input())"), `{"verdict":"fix","findings":["eval on user input"]}`},
	{"count.star", input("0"), "10"},
	{"count.star", input("41"), "42"},
	{"forum.star", input("Should we cache?"), "Cache reads for one minute, measure, then decide."},
	{"plan.star", args("title", "cache", "steps", 2), `{"title":"cache","steps":["count hits for a day","key by query"]}`},
	{"tools.star", input("What is 17 * 3?"), "51"},
	{"source_review.star", source("engine/frame.go"), "Small and clear (1 findings)\n40 [low] Say what the index means when it is -1."},
}

func input(text string) []agentscript.RunOption {
	return []agentscript.RunOption{agentscript.InputText(text)}
}

func source(path string) []agentscript.RunOption {
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return input(string(text))
}

func args(kv ...any) []agentscript.RunOption {
	m := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	return []agentscript.RunOption{agentscript.Args(m)}
}

// scripted reads the answers beside a script; a script without them needs no model.
func scripted(t *testing.T, file string) engine.Handler {
	t.Helper()
	path := filepath.Join("examples", strings.TrimSuffix(file, ".star")+".jsonl")
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nothing
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := llm.ReadScripted(f, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Err(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return s
}

// nothing fails whatever reaches it.
var nothing = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s was not recorded", e.ID()))
})

func TestExamplesEverywhere(t *testing.T) {
	covered := map[string]bool{}
	for _, ex := range examples {
		covered[ex.file] = true
		t.Run(ex.file, func(t *testing.T) {
			mod, err := agentscript.New(agentscript.WithStrict()).LoadFile(t.Context(), filepath.Join("examples", ex.file))
			if err != nil {
				t.Fatal(err)
			}
			record := &journal.Memory{}
			var first string
			run := func(how string, h engine.Handler, j engine.Journal, extra ...agentscript.RunOption) {
				t.Helper()
				var mu sync.Mutex
				var ids []string
				opts := slices.Concat(ex.in, extra, []agentscript.RunOption{agentscript.ID("run"), agentscript.Handler(h), agentscript.Journal(j),
					agentscript.OnEvent(engine.EventEffect, func(e engine.Event) {
						if e.Phase == engine.PhaseEnd {
							mu.Lock()
							ids = append(ids, e.ID)
							mu.Unlock()
						}
					})})
				res, err := mod.Start(t.Context(), opts...).Wait()
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if res.Text() != ex.want {
					t.Errorf("%s: got %q, want %q", how, res.Text(), ex.want)
				}
				slices.Sort(ids)
				if first == "" {
					first = fmt.Sprint(ids)
				} else if fmt.Sprint(ids) != first {
					t.Errorf("%s: effect ids %v, on goroutines %s", how, ids, first)
				}
			}
			run("goroutines", scripted(t, ex.file), record)
			for seed := range uint64(5) {
				run(fmt.Sprintf("cooperative, seed %d", seed), scripted(t, ex.file), &journal.Memory{}, agentscript.Cooperative(seed))
			}
			run("replay", nothing, record)
			run("cooperative replay", nothing, record, agentscript.Cooperative(7))
		})
	}
	files, err := filepath.Glob("examples/*.star")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !covered[filepath.Base(f)] {
			t.Errorf("%s is run by no test", f)
		}
	}
}

// One module serves a hundred runs at once, each with its own input.
func TestConcurrentRunsOfOneModule(t *testing.T) {
	mod, err := agentscript.New().LoadFile(t.Context(), "examples/shapes.star")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			in := "c" + strings.Repeat("x", i)
			res, err := mod.Start(t.Context(), agentscript.Input(in)).Wait()
			if want := fmt.Sprintf("circle r=%d.0", len(in)); err != nil || res.Text() != want {
				t.Errorf("run %d: %q, %v", i, res.Text(), err)
			}
		})
	}
	all.Wait()
}

// A host's handler that leaves its goroutine does not make a run look successful.
func TestHandlerThatLeavesItsGoroutine(t *testing.T) {
	leaves := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		runtime.Goexit()
		return engine.Outcome{}
	})
	mod, err := agentscript.New(agentscript.WithModels(leaves)).Load(t.Context(), script(`main = agent(prompt = "x")`), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Start(t.Context(), agentscript.Input("x")).Wait(); err == nil {
		t.Error("the run succeeded")
	}
}
