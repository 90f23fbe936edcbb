package exampleruns

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// Flow is a test flow: a script whose comments declare its results.
//
//	# answer AGENT: text        what the model answers an agent, a JSON string or as it stands
//	# run: JSON                 the input, or {parameter: value} of def main
//	# gives: JSON               the result
//	# fails: AS701 regexp       or the error
type Flow struct {
	Texts map[string]string // the answers of agents, see [Replies]
	Cases []*Case
}

// Case is one run of a test flow.
type Case struct {
	Line                int
	Input, Gives, Fails string
}

var comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^# (answer (\S+)|run|gives|fails): ?(.*)$`) })

// ReadFlow reads a test flow.
func ReadFlow(t *testing.T, file string) (f Flow) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f.Texts = map[string]string{}
	for i, line := range strings.Split(string(src), "\n") {
		m := comment().FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[2] != "":
			text := m[3]
			if json.Unmarshal([]byte(m[3]), &text) != nil {
				text = m[3]
			}
			f.Texts[m[2]] = text
		case m[1] == "run":
			f.Cases = append(f.Cases, &Case{Line: i + 1, Input: m[3]})
		case m[1] == "gives":
			f.Cases[len(f.Cases)-1].Gives = m[3]
		case m[1] == "fails":
			f.Cases[len(f.Cases)-1].Fails = m[3]
		}
	}
	if len(f.Cases) == 0 {
		t.Fatalf("%s names no run", file)
	}
	return f
}

// Option returns the input for a run of a module's main.
func (c *Case) Option(t *testing.T, m *agentscript.Module) agentscript.RunOption {
	t.Helper()
	main, missing := m.Main()
	if missing != nil {
		t.Fatal(missing)
	}
	if main.Node != nil {
		return agentscript.Input(json.RawMessage(c.Input))
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal([]byte(c.Input), &given); err != nil {
		t.Fatalf("line %d: %v", c.Line, err)
	}
	args := map[string]any{}
	for name, text := range given {
		args[name] = text
	}
	return agentscript.Args(args)
}

// Replies returns a handler that answers each agent with a text, and an agent without one with the text of its request.
func Replies(texts map[string]string) engine.Handler {
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req, ok := e.Req.(*model.Request)
		if !ok {
			return engine.Failed(engine.Errorf(engine.KindConfig, diag.UnknownTool, "%s %q is no model", e.Kind, e.Name))
		}
		text, ok := texts[e.Agent]
		if !ok {
			text = fmt.Sprintf("%s(%s)", e.Agent, req.Messages[len(req.Messages)-1].Parts[0].Text)
		}
		return Said(text)
	})
}

// Said returns the outcome of a model that answers with a text.
func Said(text string) engine.Outcome {
	u := model.Usage{In: 7, Out: 3}
	return engine.Outcome{Attempt: 1, Usage: u, Response: &model.Response{Finish: model.FinishStop, Usage: u,
		Parts: []model.Part{{Kind: model.PartText, Text: text}}}}
}
