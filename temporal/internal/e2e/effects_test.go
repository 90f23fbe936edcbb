package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/model"
)

// recordingEngine returns an engine whose effects are recorded in a file. Its model repeats what it was asked, and
// follows the words in it: "sleep=1s" takes that long, "size=3000000" answers with that many bytes,
// "recall" answers with all that the user said.
func recordingEngine(j *job) *agentscript.Engine {
	e := &effects{file: j.World, worker: j.Name, secret: j.Secret}
	opts := []agentscript.Option{agentscript.WithDefaultModel("test/model")}
	if j.Lacks != "model" {
		opts = append(opts, agentscript.WithModels(e))
	}
	for name, class := range map[string]engine.Class{"pay": engine.ClassOnce, "look": engine.ClassRead} {
		if name != j.Lacks {
			opts = append(opts, agentscript.WithTool(e.tool(name, class)))
		}
	}
	if j.Env {
		g, err := grant.New(grant.Env("WORKER:plain"))
		if err != nil {
			panic(err)
		}
		opts = append(opts, agentscript.WithGrants(g))
	}
	return agentscript.New(opts...)
}

type effects struct{ file, worker, secret string }

// Secrets removes the secret from everything that models return.
func (e *effects) Secrets() []string {
	if e.secret == "" {
		return nil
	}
	return []string{e.secret}
}

// effectEvent is a line of the file of effects.
type effectEvent struct {
	What, ID, Worker string // What is start, end, or cancelled
	At               time.Time
}

func (e *effects) record(what, id string) {
	appendLine(e.file, effectEvent{what, id, e.worker, time.Now()})
}

func appendLine(file string, v any) {
	line, _ := json.Marshal(v)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err != nil {
		panic(err)
	}
	_ = f.Close()
}

// perform carries out what the words of a text demand.
func (e *effects) perform(ctx context.Context, id, text string) (string, error) {
	e.record("start", id)
	answer := "did " + text
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "sleep":
			d, _ := time.ParseDuration(value)
			select {
			case <-time.After(d):
			case <-ctx.Done():
				e.record("cancelled", id)
				return "", context.Cause(ctx)
			}
		case "tell":
			answer = "the secret is " + e.secret
		case "fail":
			e.record("end", id)
			return "", errors.New("failed with " + e.secret)
		case "size":
			n := 0
			_, _ = fmt.Sscan(value, &n)
			answer = strings.Repeat("x", n)
		}
	}
	e.record("end", id)
	return answer, nil
}

// Do implements [engine.Handler] as a model.
func (e *effects) Do(ctx context.Context, of *engine.Effect, sink engine.Sink) engine.Outcome {
	req := of.Req.(*model.Request)
	last := req.Messages[len(req.Messages)-1].Parts[0]
	if words := strings.Fields(last.Text); len(words) > 2 && words[0] == "call" && last.Result == nil {
		args, _ := json.Marshal(map[string]string{"what": strings.Join(words[2:], " ")})
		return answered(model.FinishCalls, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: words[1], Args: string(args)}})
	}
	if last.Result != nil {
		return answered(model.FinishStop, model.Part{Kind: model.PartText, Text: last.Result.Text})
	}
	if _, words, slow := strings.Cut(last.Text, " slowly "); slow {
		for word := range strings.FieldsSeq(words) {
			time.Sleep(100 * time.Millisecond)
			if sink != nil {
				sink(engine.Token{Text: word + " ", Attempt: 1})
			}
		}
		return answered(model.FinishStop, model.Part{Kind: model.PartText, Text: words + " "})
	}
	text, err := e.perform(ctx, of.Run+" "+of.ID(), last.Text)
	if err != nil {
		return engine.Failed(engine.AsError(err))
	}
	if strings.HasPrefix(last.Text, "recall") {
		text = asked(req)
	}
	return answered(model.FinishStop, model.Part{Kind: model.PartText, Text: text})
}

// asked returns what the user said in a conversation.
func asked(req *model.Request) string {
	var all []string
	for i := range req.Messages {
		if m := &req.Messages[i]; m.Role == model.RoleUser {
			all = append(all, m.Parts[0].Text)
		}
	}
	return strings.Join(all, " | ")
}

func answered(why model.Finish, p model.Part) engine.Outcome {
	u := model.Usage{In: 7, Out: 3}
	return engine.Outcome{Attempt: 1, Usage: u, Response: &model.Response{Finish: why, Usage: u, Parts: []model.Part{p}}}
}

func (e *effects) tool(name string, class engine.Class) agent.HostTool {
	type args struct {
		What string `json:"what"`
	}
	t, err := agentscript.ToolFunc(name, "Does what it is told.", func(ctx context.Context, a args) (string, error) {
		call, _ := agentscript.ToolCall(ctx)
		return e.perform(ctx, call.Run+" "+call.ID, a.What)
	})
	if err != nil {
		panic(err)
	}
	t.Class = class
	return t
}
