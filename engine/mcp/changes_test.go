//go:build unix

package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 24.8 (MCP): progress that a server reports and changes of its tools are events. A call of an agent keeps the
// list of tools that it began with.
func TestPromise_24_8_EventsOfServers(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			progressIsSeen(t, transport)
			changesAreSeen(t, transport)
		})
	}
}

// progressIsSeen asserts that each report of a call is an event. One agent makes the call, and the other one releases it
// when all reports have arrived.
func progressIsSeen(t *testing.T, transport string) {
	t.Helper()
	var reported []string
	all := make(chan struct{})
	models := answering(func(ctx context.Context, agent string, req *model.Request) (string, string) {
		switch {
		case len(req.Messages) > 2:
			return "done", ""
		case agent == "steps":
			return "", "steps"
		}
		select {
		case <-all:
		case <-ctx.Done():
		}
		return "", "release"
	})
	ended := driven(t, transport, models, `main = par(agent(name = "steps", prompt = "A.", tools = [good]), agent(name = "releases", prompt = "A.", tools = [good]))`, func(e engine.Event) {
		if e.Phase() != engine.PhaseProgress {
			return
		}
		if e.Name() != "good.steps" || !strings.Contains(e.Path, "steps") {
			t.Errorf("%+v", e)
		}
		if reported = append(reported, e.Text()); len(reported) == 3 {
			close(all)
		}
	})
	if got := strings.Join(reported, "; "); got != "1 of 3: working; 2 of 3: working; 3 of 3: working" || ended != `["done","done"]` {
		t.Errorf("reported %q, ended with %s", got, ended)
	}
}

// changesAreSeen asserts that an agent whose server adds a tool during its call hears of it as an event, and is not
// offered the tool before its next call. The model calls a tool again and again until the event arrives.
func changesAreSeen(t *testing.T, transport string) {
	t.Helper()
	var changed atomic.Bool
	offered := map[string][]string{} // to each agent
	models := answering(func(_ context.Context, agent string, req *model.Request) (string, string) {
		for _, tool := range req.Tools {
			offered[agent] = append(offered[agent], tool.Name)
		}
		switch {
		case agent == "second" || changed.Load():
			return "done", ""
		case len(req.Messages) < 3:
			return "", "grow"
		}
		return "", "echo"
	})
	ended := driven(t, transport, models, `more = budget(turns = 100000, tool_calls = 100000, same_call = 100000, steps = 1000000)
main = agent(name = "first", prompt = "A.", tools = [good], budget = more) >> agent(name = "second", prompt = "A.", tools = [good])`, func(e engine.Event) {
		if strings.Contains(e.Text(), "changed its list of tools") {
			changed.Store(true)
		}
	})
	if ended != `"done"` || slices.Contains(offered["first"], "grown") || !slices.Contains(offered["second"], "grown") {
		t.Errorf("ended with %s; offered %q", ended, offered)
	}
}

// answering returns models that answer with a text, or else with a call of a tool.
func answering(answer func(ctx context.Context, agent string, req *model.Request) (text, tool string)) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req, ok := e.Req.(*model.Request)
		if !ok {
			return engine.Unhandled(e)
		}
		part := model.Part{Kind: model.PartText}
		var tool string
		if part.Text, tool = answer(ctx, e.Agent, req); tool != "" {
			args := `{}`
			if tool == "echo" {
				args = `{"text": "x"}`
			}
			part = model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: fmt.Sprint("call", len(req.Messages)), Name: tool, Args: args}}
		}
		return engine.Outcome{Response: &model.Response{Parts: []model.Part{part}}}
	})
}

// driven runs a script that has the server good, with what its tools report, and returns the result.
func driven(t *testing.T, transport string, models engine.Handler, script string, on func(engine.Event)) string {
	t.Helper()
	mod := load(t, client(t), models, declared(t, "good", "good", transport, "")+script)
	res, err := mod.Start(hang.Context(t), agentscript.InputText("go"), agentscript.OnEvent(engine.EventTool, on)).Wait()
	if err != nil {
		t.Fatal(err)
	}
	return res.JSON()
}
