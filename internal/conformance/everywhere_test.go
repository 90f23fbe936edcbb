package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/internal/exampleruns"
)

// unrecorded handles effects in a replay: nothing may reach it.
var unrecorded = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s was not recorded", e.ID()))
})

// idSet collects the ids of a run's effects. Its option belongs to one run.
type idSet struct {
	mu  sync.Mutex
	all []string
}

func (s *idSet) listen() agentscript.RunOption {
	return agentscript.OnEvent(engine.EventEffect, func(e engine.Event) {
		if e.Phase() == engine.PhaseEnd {
			s.mu.Lock()
			s.all = append(s.all, e.ID)
			s.mu.Unlock()
		}
	})
}

func (s *idSet) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.all)
	return strings.Join(s.all, "\n")
}

// seeds returns random seeds for this run of the test; a failure names its seed.
func seeds(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = rand.Uint64()
	}
	return out
}

// everywhere runs a module on goroutines, on the cooperative scheduler with random seeds, and on replay with handlers
// that fail if called, and requires equal results and equal sets of effect ids. Each run except replays gets its own
// handler. It returns the first result and its effect ids.
//
// If branches fail concurrently, chance decides which of them had begun. So only the error of failing runs is compared,
// and only what fails after the same effects in any order can be replayed.
func everywhere(t *testing.T, mod *agentscript.Module, handler func() engine.Handler, opts ...agentscript.RunOption) (agentscript.Result, string, error) {
	t.Helper()
	run := func(h engine.Handler, j engine.Journal, extra ...agentscript.RunOption) (agentscript.Result, string, error) {
		ids := &idSet{}
		all := slices.Concat(opts, extra, []agentscript.RunOption{agentscript.ID("run"), agentscript.Seed(1), agentscript.HandlerForAll(h), agentscript.RunJournal(j), ids.listen()})
		res, err := mod.Start(t.Context(), all...).Wait()
		return res, ids.String(), err
	}
	record := &store.Memory{}
	want, wantIDs, wantErr := run(handler(), record)
	compare := func(how string, got agentscript.Result, ids string, err error) {
		t.Helper()
		switch {
		case fmt.Sprint(err) != fmt.Sprint(wantErr):
			t.Errorf("%s: the error is %v, on goroutines %v", how, err, wantErr)
		case err != nil:
		case got.Text() != want.Text():
			t.Errorf("%s: got %s, on goroutines %s", how, got.Text(), want.Text())
		case ids != wantIDs:
			t.Errorf("%s: the effects are\n%s\non goroutines\n%s", how, ids, wantIDs)
		}
	}
	orders := 6
	if testing.Short() {
		orders = 2
	}
	for _, seed := range seeds(orders) {
		j := &store.Memory{}
		got, ids, err := run(handler(), j, agentscript.Cooperative(seed))
		compare(fmt.Sprintf("cooperative, seed %#x", seed), got, ids, err)
		if wantErr != nil {
			continue
		}
		again := rand.Uint64()
		got, ids, err = run(unrecorded, j, agentscript.Cooperative(again))
		compare(fmt.Sprintf("seed %#x replayed with %#x", seed, again), got, ids, err)
	}
	if wantErr == nil {
		got, ids, err := run(unrecorded, record)
		compare("replay", got, ids, err)
	}
	return want, wantIDs, wantErr
}

// replies returns a handler that answers each agent with a text, and an agent without one with the text of its request.
func replies(texts map[string]string) engine.Handler { return exampleruns.Replies(texts) }

// said returns the outcome of a model that answers with a text.
func said(text string) engine.Outcome { return exampleruns.Said(text) }

// calling returns the outcome of a model that calls tools, given as names and arguments.
func calling(calls ...string) engine.Outcome {
	r := &model.Response{Finish: model.FinishCalls}
	for i := 0; i+1 < len(calls); i += 2 {
		r.Parts = append(r.Parts, model.Part{Kind: model.PartCall,
			Call: &model.ToolCall{ID: fmt.Sprint("call", i/2), Name: calls[i], Args: calls[i+1]}})
	}
	return engine.Outcome{Attempt: 1, Response: r}
}

// answering makes a function the handler of model calls.
func answering(f func(ctx context.Context, agent string, r *model.Request) engine.Outcome) engine.HandlerFunc {
	return func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		r, ok := e.Req.(*model.Request)
		if !ok {
			return engine.Failed(engine.Errorf(engine.KindConfig, diag.UnknownTool, "%s %q is no model", e.Kind, e.Name))
		}
		return f(ctx, e.Agent, r)
	}
}

// repository returns the path of a file of the repository.
func repository(rel string) string { return filepath.Join("..", "..", filepath.FromSlash(rel)) }

// answersBeside reads the answers next to an example; an example without them needs no model.
func answersBeside(t *testing.T, file string) *scripted.Model {
	t.Helper()
	path := repository("examples/" + strings.TrimSuffix(file, ".star") + ".jsonl")
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return scripted.Answers(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := scripted.Read(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
