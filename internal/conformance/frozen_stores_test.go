package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
	inputs "github.com/agentscript/agentscript/internal/input"
)

// frozenScript returns the scripted answers of a flow of the corpus.
func frozenScript(t *testing.T, name string) *scripted.Model {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(frozenDir, "flows", name))
	if err != nil {
		t.Fatal(err)
	}
	models, err := scripted.Read(bytes.NewReader(data), name)
	if err != nil {
		t.Fatal(err)
	}
	return models
}

// frozenFlow loads a flow of the corpus.
func frozenFlow(t *testing.T, name string, opts ...agentscript.Option) *agentscript.Module {
	t.Helper()
	mod, err := agentscript.New(opts...).Load(t.Context(), os.DirFS(filepath.Join(frozenDir, "flows")), name)
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// hello returns the input of the flows of the corpus, whether main is a node or a function.
func hello(name string) agentscript.RunOption {
	if name == "algebra" || name == "events" {
		return agentscript.Args(map[string]any{"text": "hello"})
	}
	return agentscript.InputText("hello")
}

// approving is a person who approves.
func approving(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
	return engine.Decision{Approved: true, Reason: "--yes"}, nil
}

// frozenRow is a line of a journal that a host keeps: what encoding/json made of an outcome when the journals of the
// corpus were written, with the value, which it left out.
type frozenRow struct {
	ID      string          `json:"id"`
	Outcome json.RawMessage `json:"outcome"`
	Value   json.RawMessage `json:"value"`
}

// writtenJournal writes a journal as a host does.
type writtenJournal struct {
	mu   sync.Mutex
	rows bytes.Buffer
}

func (*writtenJournal) Answer(string) (engine.Outcome, bool) { return engine.Outcome{}, false }

func (j *writtenJournal) Commit(_ context.Context, id string, _ *engine.Effect, out engine.Outcome) error {
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	row, err := json.Marshal(frozenRow{id, text, generable.AppendJSON(nil, out.Value, nil)})
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rows.Write(append(row, '\n'))
	return err
}

// readJournal answers from what was written, and keeps nothing new.
type readJournal struct {
	mu       sync.Mutex
	outcomes map[string]engine.Outcome
	asked    []string
	new      []string
}

func (j *readJournal) Answer(id string) (engine.Outcome, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	out, ok := j.outcomes[id]
	if ok {
		j.asked = append(j.asked, id)
	}
	return out, ok
}

func (j *readJournal) Commit(_ context.Context, id string, _ *engine.Effect, _ engine.Outcome) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.new = append(j.new, id)
	return nil
}

// Promise 25.4 (packages): runs are answered from journals that an earlier version wrote, and nothing is asked again.
func TestPromise_25_4_FrozenJournals(t *testing.T) {
	for _, name := range []string{"review", "algebra", "events", "quick", "poll", "forum"} {
		t.Run(name, func(t *testing.T) {
			mod := frozenFlow(t, name+".star", agentscript.WithApproval(approving))
			file := filepath.Join("recorded", name+".journal")
			if _, err := os.Stat(filepath.Join(frozenDir, file)); os.IsNotExist(err) && *freeze {
				var written writtenJournal
				res, err := mod.Start(t.Context(), agentscript.Cooperative(1), agentscript.ID("run"), hello(name), agentscript.HandlerFor(engine.EffectModel, frozenScript(t, name+".jsonl")), agentscript.RunJournal(&written)).Wait()
				if err != nil {
					t.Fatal(err)
				}
				row, err := json.Marshal(frozenRow{ID: "result", Outcome: json.RawMessage("null"), Value: json.RawMessage(res.JSON())})
				if err != nil {
					t.Fatal(err)
				}
				frozen(t, file, written.rows.String()+string(row)+"\n")
			}
			data, err := os.ReadFile(filepath.Join(frozenDir, file))
			if err != nil {
				t.Fatal(err)
			}
			want, record := "", &readJournal{outcomes: map[string]engine.Outcome{}}
			for line := range strings.Lines(string(data)) {
				var row frozenRow
				if err := json.Unmarshal([]byte(line), &row); err != nil {
					t.Fatal(err)
				}
				if row.ID == "result" {
					want = string(row.Value)
					continue
				}
				var out engine.Outcome
				if bytes.Contains(row.Outcome, []byte(`{"Response":null,"Value":{},"Err":null,`)) { // its value is its whole outcome
					out.Attempt = 1
				} else if err := json.Unmarshal(row.Outcome, &out); err != nil {
					t.Fatalf("%s: %v", row.Outcome, err)
				}
				if out.Value, err = inputs.JSON(string(row.Value), generable.AnyT); err != nil {
					t.Fatal(err)
				}
				record.outcomes[row.ID] = out
			}
			refusing := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
				t.Errorf("%s is asked for", e.ID())
				return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "not recorded"))
			})
			for _, how := range [][]agentscript.RunOption{{agentscript.Cooperative(1)}, {agentscript.Cooperative(7)}, nil} {
				record.asked = nil
				res, err := mod.Start(t.Context(), append(how, agentscript.ID("run"), hello(name), agentscript.HandlerForAll(refusing), agentscript.RunJournal(record))...).Wait()
				if err != nil || res.JSON() != want {
					t.Errorf("%s, %v, want %s", res.JSON(), err, want)
				}
				slices.Sort(record.asked)
				if asked := slices.Compact(record.asked); len(asked) != len(record.outcomes) {
					t.Errorf("%d of %d recorded effects are asked for", len(asked), len(record.outcomes))
				}
			}
			if len(record.new) > 0 {
				t.Errorf("not answered from the journal: %q", record.new)
			}
		})
	}
}

// TestFrozenEvents checks the JSON of the events that no scripted run has: of streams, of repeated attempts, of server
// messages, and of a tool that does not return.
func TestFrozenEvents(t *testing.T) {
	t.Parallel() // most of it is the wait for a tool that does not return
	var b strings.Builder
	release := make(chan struct{})
	defer close(release)
	stuck := agent.HostTool{Tool: agent.Tool{Name: "stuck", Doc: "Does not return.", Timeout: 1}, Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
		<-release
		return generable.Value{}, nil
	}}
	src := "a = agent(prompt = \"A.\", tools = [stuck])\nmain = a\n"
	mod := loaded(t, agentscript.New(agentscript.WithTool(stuck), agentscript.WithGrace(1)), src)
	asked := 0
	models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if asked++; asked == 2 {
			return engine.Outcome{Attempt: 2, Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "done"}}}}
		}
		sink(engine.Token{Attempt: 1, Text: "hm", Reasoning: true})
		sink(engine.Token{Attempt: 1, Seq: 1, Call: &engine.CallDelta{ID: "c", Name: "stuck", Args: "{}"}})
		sink(engine.Token{Attempt: 1, Seq: 2, Retry: &engine.Retry{Err: engine.Errorf(engine.KindRateLimit, diag.ProviderError, "slow down"), Wait: 1, From: "a/b", To: "c/d"}})
		sink(engine.Token{Attempt: 2, Notice: "working"})
		return engine.Outcome{Attempt: 2, Usage: model.Usage{In: 1, Out: 2}, Response: &model.Response{Finish: model.FinishCalls, Parts: []model.Part{
			{Kind: model.PartReasoning, Text: "hm"}, {Kind: model.PartCall, Call: &model.ToolCall{ID: "c", Name: "stuck", Args: "{}"}}}}}
	})
	_, err := mod.Start(t.Context(), agentscript.HandlerFor(engine.EffectModel, models), agentscript.InputText("x"), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
		line, err := json.Marshal(e)
		if err != nil {
			t.Error(err)
		}
		b.Write(append(line, '\n'))
	})).Wait()
	if err != nil {
		t.Fatal(err)
	}
	frozen(t, "events.txt", shapes(t, b.String(), ""))
}

// TestFrozenAllocations bounds the allocations of the runs of the corpus; a later version may allocate less. The data
// of an event may be a separate allocation, except for tokens, of which there are many.
func TestFrozenAllocations(t *testing.T) {
	unraced(t)
	runs, events := map[string]func(){}, map[string]float64{}
	for _, name := range []string{"algebra", "review", "forum", "tools", "support"} {
		mod := frozenFlow(t, name+".star", agentscript.WithApproval(approving))
		start := func(opts ...agentscript.RunOption) func() {
			return func() {
				if _, err := mod.Start(t.Context(), append(opts, agentscript.HandlerFor(engine.EffectModel, frozenScript(t, name+".jsonl")), hello(name))...).Wait(); err != nil {
					t.Fatal(err)
				}
			}
		}
		runs[name] = start()
		runs[name+" from a journal"] = start(agentscript.RunJournal(&store.Memory{}))
		kinds := engine.EventAll &^ engine.EventRoute // it came later: its names are separate allocations
		runs[name+" with events"] = start(agentscript.OnEvent(kinds, func(engine.Event) {}))
		start(agentscript.OnEvent(kinds&^engine.EventToken, func(engine.Event) { events[name+" with events"]++ }))()
		runs["load "+name] = func() { frozenFlow(t, name+".star") }
	}
	got := map[string]float64{}
	for name, run := range runs {
		got[name] = measured(run).allocs
	}
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(frozenDir, "allocations.json")); os.IsNotExist(err) {
		frozen(t, "allocations.json", string(text)+"\n")
	}
	data, err := os.ReadFile(filepath.Join(frozenDir, "allocations.json"))
	if err != nil {
		t.Fatal(err)
	}
	var was map[string]float64
	if err := json.Unmarshal(data, &was); err != nil {
		t.Fatal(err)
	}
	for name, most := range was {
		if most += events[name]; got[name] > most*1.01+5 { // a map grows at a time that its seed determines
			t.Errorf("%s: %.0f allocations, at most %.0f", name, got[name], most)
		}
	}
}
