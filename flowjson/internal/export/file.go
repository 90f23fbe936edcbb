package export

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/agentscript/agentscript/engine/remote"
)

// finish is the target of a transition that ends the flow.
const finish = "__finish__"

// The objects of the file, with members in the order of the fields.
type (
	fileFlow struct {
		ID           string      `json:"id"`
		Version      string      `json:"version"`
		Description  string      `json:"description,omitempty"`
		DefaultModel string      `json:"defaultModel,omitempty"`
		Tools        []fileTool  `json:"tools,omitempty"`
		Agents       []fileAgent `json:"agents"`
		Transitions  []fileEdge  `json:"transitions,omitempty"`
	}
	fileAgent struct {
		Name   string      `json:"name"`
		Type   string      `json:"type"`
		Model  string      `json:"model,omitempty"`
		Config *fileConfig `json:"config,omitempty"`
		Prompt *filePrompt `json:"prompt,omitempty"`
		Params *fileParams `json:"params,omitempty"`
	}
	fileConfig struct {
		Temperature   *float64 `json:"temperature,omitempty"`
		MaxIterations *int64   `json:"maxIterations,omitempty"`
		MaxTokens     *int     `json:"maxTokens,omitempty"`
		TopP          *float64 `json:"topP,omitempty"`
		ToolChoice    string   `json:"toolChoice,omitempty"`
		Speculation   string   `json:"speculation,omitempty"`
	}
	filePrompt struct {
		System string `json:"system"`
	}
	fileParams struct {
		Task              string         `json:"task,omitempty"`
		ToolNames         *[]string      `json:"toolNames,omitempty"` // an empty list means no tool, a missing one every tool
		ReasoningInterval int            `json:"reasoningInterval,omitempty"`
		Transformations   []fileValue    `json:"transformations,omitempty"`
		Agents            []string       `json:"agents,omitempty"`
		Merge             *fileCondition `json:"merge,omitempty"`
	}
	fileTool struct {
		Name       string         `json:"name"`
		Type       string         `json:"type"`
		Parameters fileParameters `json:"parameters"`
	}
	fileParameters struct {
		Path      string       `json:"path,omitempty"`
		Transport string       `json:"transport,omitempty"`
		Command   string       `json:"command,omitempty"`
		Args      []string     `json:"args,omitempty"`
		Env       fileSettings `json:"env,omitempty"`
		URL       string       `json:"url,omitempty"`
		Headers   fileSettings `json:"headers,omitempty"`
	}
	fileEdge struct {
		From           string         `json:"from"`
		To             string         `json:"to"`
		Condition      *fileCondition `json:"condition,omitempty"`
		Transformation *fileValue     `json:"transformation,omitempty"`
	}
	fileCondition struct {
		Variable  string          `json:"variable"`
		Operation string          `json:"operation"`
		Value     json.RawMessage `json:"value"`
	}
	fileValue struct {
		Value string `json:"value"`
	}
	fileSettings []remote.Setting // an object, in the order of the script
)

// MarshalJSON encodes settings as an object.
func (s fileSettings) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, set := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quoted(set.Name)...), ':'), quoted(set.Value)...)
	}
	return append(b, '}'), nil
}

// empty reports whether an agent that a model executes has no parameters.
func (p *fileParams) empty() bool {
	return p.Task == "" && p.ToolNames == nil && p.ReasoningInterval == 0
}

// quoted returns a text as JSON.
func quoted(s string) []byte {
	return encoded(s, "")
}

func (f *fileFlow) text() []byte { return append(encoded(f, "  "), '\n') }

// encoded returns a value as JSON without escaping texts for HTML: < stays as it is.
func encoded(v any, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		panic(err) // the types above can all be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// fill writes the agents and transitions of the walk.
func (x *exporter) fill(f *fileFlow) {
	for _, s := range x.steps {
		if s.spec != nil && s.spec.Model != f.DefaultModel {
			s.file.Model = s.spec.Model
		}
		f.Agents = append(f.Agents, s.file)
		for _, e := range s.edges {
			if e.origin().to == nil && e.cond == nil && e.project == "" && len(s.edges) == 1 {
				continue // a step without transitions ends the flow
			}
			f.Transitions = append(f.Transitions, e.file())
		}
	}
	if len(f.Transitions) == 0 && len(f.Agents) > 1 { // otherwise they would run one after the other
		f.Transitions = []fileEdge{x.steps[0].edges[0].file()}
	}
}

func (e *edge) file() fileEdge {
	f := fileEdge{From: e.from.file.Name, To: finish}
	if to := e.origin().to; to != nil {
		f.To = to.file.Name
	}
	if e.cond != nil {
		f.Condition = e.cond.file()
	}
	if part := e.origin().project; part != "" {
		f.Transformation = &fileValue{"input." + part}
	}
	return f
}

// defaultModel returns the model of most agents, or the first of several. It returns none if an agent names no model,
// since that agent uses the default of the run.
func (x *exporter) defaultModel() string {
	count := map[string]int{}
	var models []string
	for _, s := range x.steps {
		if s.spec == nil {
			continue
		}
		if s.spec.Model == "" {
			return ""
		}
		if count[s.spec.Model]++; !slices.Contains(models, s.spec.Model) {
			models = append(models, s.spec.Model)
		}
	}
	most := ""
	for _, m := range models {
		if count[m] > count[most] {
			most = m
		}
	}
	return most
}
