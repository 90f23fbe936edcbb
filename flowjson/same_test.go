package flowjson_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/generable"
)

// answers is a model whose n-th answer to an agent is always the same. It records the requests.
type answers struct {
	mu    sync.Mutex
	seed  uint64
	times map[string]int
	calls []string
	shown []string // the complete requests
}

func newAnswers(seed uint64) *answers { return &answers{seed: seed, times: map[string]int{}} }

// Do implements [engine.Handler].
func (a *answers) Do(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req, ok := e.Req.(*model.Request)
	if list, ok := e.Req.(*remote.ListRequest); ok {
		var tools []remote.Tool
		for _, name := range map[string][]string{"files": {"read_file", "list_files"}, "test-mcp-tools": {"greeting", "parting"}, "github-tools": {"read_file"}}[list.Server.Name] {
			tools = append(tools, remote.Tool{Name: name, Input: `{"type": "object"}`})
		}
		return engine.Outcome{Attempt: 1, Value: remote.EncodeTools(tools)}
	}
	if !ok {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.ScriptedModel, "%s is not answered", e.Kind))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.times[e.Agent]
	a.times[e.Agent]++
	sum := sha256.Sum256(fmt.Append(nil, a.seed, e.Agent, n))
	text := []string{"red", "green", "blue", "grey", "done"}[sum[0]%5]
	if req.Output != nil && req.Output.Type.HasSchema() {
		switch t := req.Output.Type.Deref(); t.Kind {
		case generable.BoolType:
			text = fmt.Sprint(sum[0]%2 == 0)
		case generable.IntType:
			text = fmt.Sprint(sum[0] % 100)
		case generable.FloatType:
			text = fmt.Sprint(float64(sum[0]%200) / 2)
		case generable.EnumType:
			text = t.Values[int(sum[0])%len(t.Values)]
		case generable.OneOfType:
			if words := []string{text, "true", "false", "7", "70", "70.5"}; sum[0] > 50 {
				text = words[int(sum[1])%len(words)]
			}
		case generable.RecordType:
			text = fmt.Sprintf(`{"success": %v, "feedback": %q}`, sum[1]%2 == 0, text)
		}
	}
	a.calls = append(a.calls, fmt.Sprintf("%s %x %s", e.Agent, req.Digest(), text))
	a.shown = append(a.shown, fmt.Sprintf("%s: %s\n%+v\n%+v\n%+v\n%+v %+v %v => %s", e.Agent, req.Model, req.System, req.Messages, req.Tools, req.Params, req.Choice, req.Output, text))
	return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: text}}}}
}

// result holds the requests and the result of a run.
type result struct {
	calls, shown []string
	out          string
	err          error
}

func ofJSON(t *testing.T, f *flowjson.Flow, seed uint64) result {
	t.Helper()
	h := newAnswers(seed)
	v, err := f.Run(t.Context(), "the input", run.Spec{Handler: h, Model: "test/model"})
	return result{h.calls, h.shown, generable.JSON(v, nil), err}
}

func ofScript(t *testing.T, script, flow string, seed uint64) result {
	t.Helper()
	h := newAnswers(seed)
	fsys := fstest.MapFS{"flow.star": {Data: []byte(script)}, flowjson.ToolsFile: {Data: []byte(toolsFile)}, "flow.json": {Data: []byte(flow)}}
	m, err := agentscript.New(agentscript.WithModels(h), agentscript.WithMCP(h), agentscript.WithDefaultModel("test/model"), agentscript.WithUngranted()).Load(t.Context(), fsys, "flow.star")
	if err != nil {
		t.Fatalf("%v\n%s", err, script)
	}
	v, err := m.Start(t.Context(), agentscript.Args(map[string]any{"input": "the input"})).Wait()
	return result{h.calls, h.shown, generable.JSON(v.Value, nil), err}
}

// same reports whether both forms of a script make the calls that the flow makes. settled is false if the run reached a
// bound, or cannot end.
func same(t *testing.T, name, text string, seed uint64, o flowjson.Options) (settled bool) {
	t.Helper()
	f, found := flowjson.Check(name, text, o)
	if f == nil && slices.ContainsFunc(found, func(d *diag.Diagnostic) bool { return d.Code == diag.FlowNoEnd }) {
		return false // an edge that may lead anywhere leads nowhere
	}
	if f == nil {
		t.Fatalf("%s: %v\n%s", name, found, text)
	}
	want := ofJSON(t, f, seed)
	if strings.Contains(text, `"local"`) {
		want = ofScript(t, flowjson.LoadScript("flow.json", text, flowjson.LoadOptions{Tools: flowjson.ToolsFile, Compat: o.Compat}, nil), text, seed)
	}
	if want.err != nil && len(want.calls) > 300 {
		return false
	}
	if want.err != nil && !strings.HasPrefix(message(want.err), "no result of ") && o.Compat == "" {
		t.Fatalf("%s: %v", name, want.err)
	}
	for _, form := range []flowjson.Form{flowjson.Structured, flowjson.Graph} {
		script, found := f.Convert(form)
		if len(found) > 0 {
			t.Fatalf("%s: %v\n%s", name, found, text)
		}
		sound(t, name, script)
		got := ofScript(t, script, "", seed)
		if strings.Contains(text, `"parallel"`) { // in any order
			slices.Sort(got.calls)
			slices.Sort(want.calls)
		}
		if got.out != want.out || !strings.Contains(message(got.err), message(want.err)) || (got.err == nil) != (want.err == nil) || !slices.Equal(got.calls, want.calls) {
			t.Fatalf("%s, %s: got\n%s\n%s %v\nwant\n%s\n%s %v\n%s\n%s\n%s", name, form, strings.Join(got.calls, "\n"), got.out, got.err, strings.Join(want.calls, "\n"), want.out, want.err, script, text, differ(got, want))
		}
	}
	return true
}

// message returns what an error says, without its position.
func message(err error) string {
	var e *engine.Error
	if errors.As(err, &e) {
		says, _, _ := strings.Cut(e.Message, ": it has ") // a part of a flow ends where another one begins
		return says
	}
	return ""
}

func differ(got, want result) string {
	for i := range min(len(got.shown), len(want.shown)) {
		if got.shown[i] != want.shown[i] {
			return "first differs\n" + got.shown[i] + "\n---\n" + want.shown[i]
		}
	}
	return "none is shown to differ"
}

// TestPublishedSame checks that the scripts of the published flows make the calls that the flows make.
func TestPublishedSame(t *testing.T) {
	files, err := filepath.Glob("testdata/published/*.json")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob("testdata/convert/*.json")
	seeds := uint64(8)
	if testing.Short() {
		seeds = 2
	}
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(filepath.Base(file), "simple_") {
			continue // an early draft of the format, which is rejected
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			for seed := range seeds {
				same(t, filepath.Base(file), string(text), seed, flowjson.Options{})
				same(t, filepath.Base(file), string(text), seed, flowjson.Options{Compat: flowjson.Upstream})
			}
		})
	}
}

// Promise 29.14 (flows): random flows of up to 200 agents, with branches, loops, joins, early ends and jumps that no
// structure can express, make the same calls as JSON, as the structured script and as the graph that convert writes
// from them.
func TestPromise_29_14_RandomFlows(t *testing.T) {
	flows, size := 400, 200
	if testing.Short() {
		flows, size = 60, 40
	}
	stopped := 0
	for seed := range uint64(flows) {
		n := int(seed)%20 + 1
		if seed%10 == 0 {
			n = size
		}
		if !same(t, fmt.Sprintf("flow-%d.json", seed), randomFlow(seed, n), seed, flowjson.Options{}) {
			stopped++
		}
		if seed%4 == 0 { // most of these end where no transition takes an answer
			same(t, fmt.Sprintf("flow-%d.json", seed), randomFlow(seed, n), seed, flowjson.Options{Compat: flowjson.Upstream})
		}
	}
	if stopped > flows/10 {
		t.Errorf("%d of %d runs come to a bound", stopped, flows)
	}
}
