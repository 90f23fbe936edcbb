package agentscript_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
)

// refusing counts and refuses whatever a replay asks for.
func refusing(asked *[]string) engine.Handler {
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		*asked = append(*asked, e.Agent)
		return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s is not recorded", e.ID()))
	})
}

func answering(f func(ctx context.Context, agent string) engine.Outcome) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome { return f(ctx, e.Agent) })
}

func saying(text string) engine.Outcome {
	return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: text}}}}
}

var busy = engine.Failed(engine.Errorf(engine.KindRateLimit, diag.ProviderError, "slow down"))

// stopped is what a connection says that is closed.
var stopped = engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))

// A failure that was recorded is an answer like any other: the run fails again, and nothing is
// asked, not even when the handler would answer by now.
func TestReplayOfAFailedRun(t *testing.T) {
	mod, err := agentscript.New().Load(t.Context(), script("a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\nmain = a >> b\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	record := &store.Memory{}
	start := func(h engine.Handler) error {
		_, err := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("run"), agentscript.HandlerForAll(h), agentscript.RunJournal(record)).Wait()
		return err
	}
	first := start(answering(func(_ context.Context, agent string) engine.Outcome {
		if agent == "b" {
			return busy
		}
		return saying("fine")
	}))
	var asked []string
	second := start(refusing(&asked))
	if !errors.Is(first, engine.ErrRateLimit) || second == nil || second.Error() != first.Error() || asked != nil {
		t.Errorf("first %v, then %v, asked %v", first, second, asked)
	}
}

// What a failing branch stopped is not recorded. A replay asks the handler for it, or stops it
// again first: which of the two, the order of the branches decides.
func TestReplayOfAFailedFanOut(t *testing.T) {
	mod, err := agentscript.New().Load(t.Context(), script("slow = agent(prompt = \"S.\")\nquick = agent(prompt = \"Q.\")\nmain = slow / quick\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for seed := range uint64(40) {
		record := &store.Memory{}
		begun := make(chan struct{})
		_, first := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("run"), agentscript.RunJournal(record),
			agentscript.HandlerForAll(answering(func(ctx context.Context, agent string) engine.Outcome {
				if agent == "slow" {
					close(begun)
					<-ctx.Done()
					return stopped
				}
				<-begun
				return busy
			}))).Wait()
		ids := record.IDs()
		if !errors.Is(first, engine.ErrRateLimit) || len(ids) != 1 || !strings.Contains(ids[0], "agent:quick") {
			t.Fatalf("%v, recorded %v", first, ids)
		}
		var asked []string
		_, second := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("run"), agentscript.RunJournal(record),
			agentscript.HandlerForAll(refusing(&asked)), agentscript.Cooperative(seed)).Wait()
		var e *engine.Error
		if !errors.As(second, &e) {
			t.Fatal(second)
		}
		switch {
		case asked == nil && second.Error() == first.Error():
			seen["the same error"] = true
		case slices.Equal(asked, []string{"slow"}) && e.Code == diag.ReplayMismatch:
			seen["asked"] = true
			if len(record.IDs()) != 2 { // the refusal is an outcome as well
				t.Errorf("recorded %v", record.IDs())
			}
		default:
			t.Errorf("seed %d: %v, asked %v", seed, second, asked)
		}
	}
	if len(seen) != 2 {
		t.Errorf("only %v", seen)
	}
}

// What time stopped is not recorded, and time is not replayed: the second run goes on.
func TestReplayOfARunOutOfTime(t *testing.T) {
	mod, err := agentscript.New().Load(t.Context(), script("main = agent(prompt = \"A.\")\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	record := &store.Memory{}
	opts := []agentscript.RunOption{agentscript.Input("x"), agentscript.RunJournal(record)}
	_, first := mod.Start(t.Context(), append(opts, agentscript.RunLimits(engine.Limits{Wall: time.Millisecond}), agentscript.HandlerForAll(answering(func(ctx context.Context, _ string) engine.Outcome {
		<-ctx.Done()
		return stopped
	})))...).Wait()
	if !errors.Is(first, engine.ErrTimeout) || record.IDs() != nil {
		t.Fatalf("%v, recorded %v", first, record.IDs())
	}
	res, err := mod.Start(t.Context(), append(opts, agentscript.HandlerForAll(answering(func(context.Context, string) engine.Outcome { return saying("late") })))...).Wait()
	if err != nil || res.Text() != "late" {
		t.Errorf("%q, %v", res.Text(), err)
	}
}
