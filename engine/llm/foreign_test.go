package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/tmc/langchaingo/llms"
)

// foreign is a host's own model.
type foreign struct {
	answer *llms.ContentResponse
	err    error
	panics bool
	chunks []string

	mu       sync.Mutex
	messages []llms.MessageContent
	options  llms.CallOptions
}

func (f *foreign) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("not used")
}

func (f *foreign) GenerateContent(ctx context.Context, messages []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.messages = messages
	f.options = llms.CallOptions{}
	for _, o := range opts {
		o(&f.options)
	}
	if f.panics {
		panic("boom")
	}
	for _, c := range f.chunks {
		if f.options.StreamingFunc != nil {
			if err := f.options.StreamingFunc(ctx, []byte(c)); err != nil {
				return nil, err
			}
		}
	}
	return f.answer, f.err
}

func choices(c ...*llms.ContentChoice) *llms.ContentResponse {
	return &llms.ContentResponse{Choices: c}
}

func TestHostModel(t *testing.T) {
	call := &llms.FunctionCall{Name: "now", Arguments: `{"zone":"UTC"}`}
	for name, row := range map[string]struct {
		answer *llms.ContentResponse
		parts  []model.Part
		finish model.Finish
		usage  model.Usage
	}{
		"text": {
			choices(&llms.ContentChoice{Content: "hi", StopReason: "stop", GenerationInfo: map[string]any{"PromptTokens": 5, "CompletionTokens": 2, "ReasoningTokens": 1}}),
			[]model.Part{{Kind: model.PartText, Text: "hi"}}, model.FinishStop, model.Usage{In: 5, Out: 2, Reasoning: 1},
		},
		"int32 usage": {
			choices(&llms.ContentChoice{Content: "hi", StopReason: "FinishReasonStop", GenerationInfo: map[string]any{"input_tokens": int32(5), "output_tokens": int32(2)}}),
			[]model.Part{{Kind: model.PartText, Text: "hi"}}, model.FinishUnknown, model.Usage{In: 5, Out: 2},
		},
		"a call is not counted twice": {
			choices(&llms.ContentChoice{FuncCall: call, ToolCalls: []llms.ToolCall{{ID: "a", FunctionCall: call}}, StopReason: "tool_calls", GenerationInfo: map[string]any{"PromptTokens": 1, "CompletionTokens": 1}}),
			[]model.Part{callPart("a", "now", `{"zone":"UTC"}`)}, model.FinishCalls, model.Usage{In: 1, Out: 1},
		},
		"the older form of a call": {
			choices(&llms.ContentChoice{FuncCall: call, GenerationInfo: map[string]any{"PromptTokens": 1, "CompletionTokens": 1}}),
			[]model.Part{callPart("call_1_0", "now", `{"zone":"UTC"}`)}, model.FinishCalls, model.Usage{In: 1, Out: 1},
		},
		"a choice per block": {
			choices(
				&llms.ContentChoice{Content: "Looking. ", StopReason: "tool_use", GenerationInfo: map[string]any{"InputTokens": 5, "OutputTokens": 2, "CacheReadInputTokens": 10, "ThinkingContent": "hm"}},
				&llms.ContentChoice{ToolCalls: []llms.ToolCall{{ID: "a", FunctionCall: call}}, StopReason: "tool_use", GenerationInfo: map[string]any{"InputTokens": 5, "OutputTokens": 2}},
				&llms.ContentChoice{ToolCalls: []llms.ToolCall{{ID: "a", FunctionCall: &llms.FunctionCall{Name: "now"}}}, StopReason: "tool_use"},
			),
			[]model.Part{{Kind: model.PartReasoning, Text: "hm"}, {Kind: model.PartText, Text: "Looking. "}, callPart("a", "now", `{"zone":"UTC"}`), callPart("call_1_1", "now", "{}")},
			model.FinishCalls, model.Usage{In: 15, Out: 2, CacheRead: 10},
		},
		"no usage": {
			choices(&llms.ContentChoice{Content: "12345678"}), []model.Part{{Kind: model.PartText, Text: "12345678"}},
			model.FinishUnknown, model.Usage{In: 3, Out: 2, Estimated: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &foreign{answer: row.answer}
			r := llm.New(env(), llm.WithModel("acme/large", m, llm.Caps{Tools: true}))
			req := prompt("x")
			req.Tools = tools()
			if name == "no usage" {
				req.Tools = nil
			}
			got := need(t, ask(r, "acme/large", req))
			if !reflect.DeepEqual(got.Parts, row.parts) {
				t.Errorf("parts %+v", got.Parts)
			}
			if got.Finish != row.finish || got.Usage != row.usage {
				t.Errorf("finish %s usage %+v", got.Finish, got.Usage)
			}
		})
	}
}

func TestHostModelGetsTheRequest(t *testing.T) {
	m := &foreign{answer: choices(&llms.ContentChoice{Content: "ok"})}
	req := *scenarios()["tools"]
	req.System = "Be brief."
	req.Params = scenarios()["params"].Params
	for _, one := range []bool{false, true} {
		r := llm.New(env(), llm.WithModel("acme/large", m, llm.Caps{Tools: true, OnePart: one}))
		need(t, ask(r, "acme/large", &req))
		var shape []string
		for _, msg := range m.messages {
			s := string(msg.Role) + ":"
			for _, p := range msg.Parts {
				s += fmt.Sprintf(" %T", p)
			}
			shape = append(shape, strings.ReplaceAll(s, "llms.", ""))
		}
		want := "system: TextContent|human: TextContent|ai: TextContent ToolCall ToolCall|tool: ToolCallResponse|tool: ToolCallResponse"
		if one {
			want = "system: TextContent|human: TextContent|ai: TextContent|ai: ToolCall|ai: ToolCall|tool: ToolCallResponse|tool: ToolCallResponse"
		}
		if got := strings.Join(shape, "|"); got != want {
			t.Errorf("messages %s", got)
		}
		o := m.options
		if o.Model != "" || o.Temperature != 0.7 || o.TopP != 0.9 || o.MaxTokens != 100 || len(o.StopWords) != 1 || len(o.Tools) != 2 {
			t.Errorf("options %+v", o)
		}
		var schema map[string]any
		if err := json.Unmarshal(o.Tools[0].Function.Parameters.(json.RawMessage), &schema); err != nil || schema["type"] != "object" {
			t.Errorf("schema %v %v", schema, err)
		}
	}
}

// Texts and pictures reach a host's model in the order of the turn.
func TestHostModelGetsTheOrder(t *testing.T) {
	host := &foreign{answer: choices(&llms.ContentChoice{Content: "yes"})}
	r := llm.New(env(), llm.WithModel("acme/large", host, llm.Caps{}))
	defer r.Close()
	need(t, ask(r, "acme/large", scenarios()["image_first"]))
	var got []string
	for _, p := range host.messages[0].Parts {
		switch p := p.(type) {
		case llms.TextContent:
			got = append(got, p.Text)
		case llms.ImageURLContent:
			got = append(got, p.URL)
		}
	}
	want := []string{"data:image/png;base64,iVBORw0KGgo=", "This is the first.\n\nAnd this the second:", "data:image/png;base64,QUJD", "Which is larger?"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestHostModelStreams(t *testing.T) {
	m := &foreign{answer: choices(&llms.ContentChoice{Content: "a b"}), chunks: []string{"a", "", `[{"id":"x","type":"function","function":{"name":"now","arguments":"{}"}}]`, " b", "[1, 2]"}}
	r := llm.New(env(), llm.WithModel("acme/large", m, llm.Caps{Stream: true}))
	out, text, _ := listen(t, r, "acme/large", prompt("x"))
	if need(t, out); text != "a b[1, 2]" {
		t.Errorf("streamed %q", text)
	}
}

func TestHostModelLimits(t *testing.T) {
	m := &foreign{answer: choices(&llms.ContentChoice{Content: "{}"})}
	r := llm.New(env(), llm.WithModel("acme/small", m, llm.Caps{}), llm.WithModel("acme/json", m, llm.Caps{JSONMode: true}))
	req := prompt("x")
	req.Tools = tools()
	if err := needErr(t, ask(r, "acme/small", req)); err.Kind != engine.KindUnsupported {
		t.Errorf("%v", err)
	}
	req = prompt("x")
	req.Output = &model.Output{Type: verdict(), Structured: model.StructuredConstrained}
	if err := needErr(t, ask(r, "acme/json", req)); err.Kind != engine.KindUnsupported {
		t.Errorf("%v", err)
	}
	req.Output.Structured = model.StructuredAuto
	if need(t, ask(r, "acme/json", req)); !m.options.JSONMode {
		t.Error("no JSON mode")
	}
	if need(t, ask(r, "acme/small", req)); m.options.JSONMode {
		t.Error("JSON mode for a model without it")
	}
}

func TestHostModelFails(t *testing.T) {
	for _, row := range []struct {
		err   error
		kind  engine.ErrKind
		retry bool
	}{
		{llms.NewError(llms.ErrCodeRateLimit, "acme", "slow down"), engine.KindRateLimit, true},
		{llms.NewError(llms.ErrCodeTokenLimit, "acme", "too long"), engine.KindContextLength, false},
		{errors.New("API returned unexpected status code: 429: Rate limit reached"), engine.KindRateLimit, true},
		{errors.New("API returned unexpected status code: 400: This model's maximum context length is 14290 tokens"), engine.KindContextLength, false},
		{errors.New("out of paper"), engine.KindServer, false},
		{fmt.Errorf("gave up: %w", context.DeadlineExceeded), engine.KindTimeout, false},
		{&engine.Error{Kind: engine.KindQuota, Message: "no coins"}, engine.KindQuota, false},
	} {
		r := llm.New(once, env(), llm.WithModel("acme/large", &foreign{err: row.err}, llm.Caps{}))
		err := needErr(t, ask(r, "acme/large", prompt("x")))
		if err.Kind != row.kind {
			t.Errorf("%v: %s, want %s", row.err, err.Kind, row.kind)
		}
		if err.Model != nil && err.Model.Retryable != row.retry {
			t.Errorf("%v: retryable %v", row.err, err.Model.Retryable)
		}
		if !errors.Is(err, row.err) {
			t.Errorf("%v: the cause is lost in %v", row.err, err)
		}
	}
	r := llm.New(env(), llm.WithModel("acme/large", &foreign{panics: true}, llm.Caps{}), llm.WithModel("acme/none", &foreign{}, llm.Caps{}))
	if err := needErr(t, ask(r, "acme/large", prompt("x"))); err.Kind != engine.KindPanic || !strings.Contains(err.Message, "boom") {
		t.Errorf("%v", err)
	}
	if err := needErr(t, ask(r, "acme/none", prompt("x"))); err.Kind != engine.KindBadResponse {
		t.Errorf("%v", err)
	}
	// A client that reports the received part of a cancelled stream as success.
	ctx, cancel := context.WithCancel(context.Background())
	late := &cancelling{foreign{answer: choices(&llms.ContentChoice{Content: "par"})}, cancel}
	r = llm.New(env(), llm.WithModel("acme/late", late, llm.Caps{}))
	if err := needErr(t, r.Do(ctx, effect("acme/late", prompt("x")), nil)); err.Kind != engine.KindCancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

type cancelling struct {
	foreign
	cancel context.CancelFunc
}

func (c *cancelling) GenerateContent(ctx context.Context, m []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
	c.cancel()
	return c.foreign.GenerateContent(ctx, m, o...)
}

func TestFactory(t *testing.T) {
	made := map[string]int{}
	r := llm.New(env(), llm.WithProvider("lab", func(model string) (llms.Model, llm.Caps, error) {
		made[model]++
		if model == "broken" {
			return nil, llm.Caps{}, errors.New("no licence")
		}
		return &foreign{answer: choices(&llms.ContentChoice{Content: model})}, llm.Caps{}, nil
	}))
	for range 3 {
		if got := need(t, ask(r, "lab/a/b:c", prompt("x"))); got.Text() != "a/b:c" {
			t.Errorf("%q", got.Text())
		}
	}
	if made["a/b:c"] != 1 {
		t.Errorf("made %v", made)
	}
	err := needErr(t, ask(r, "lab/broken", prompt("x")))
	if err.Kind != engine.KindConfig || !strings.Contains(err.Message, "no licence") {
		t.Errorf("%v", err)
	}
}
