package wire

import (
	"bytes"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

var dialects = map[string]Dialect{"openai": &OpenAI{}, "ollama": &Ollama{}, "anthropic": &Anthropic{}, "gemini": &Gemini{}}

// forms are the forms of answers that no request is made for.
var forms = map[string]Form{"responses": &Responses{}, "converse": &Converse{}, "interactions": &Interactions{}, "cohere": &Cohere{}}

func planFor(dialect string) *Plan {
	return &Plan{Provider: dialect, Model: "m", Dialect: dialects[dialect], Form: forms[dialect], Request: &model.Request{}}
}

func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

// quirk is an answer as some server really writes it.
type quirk struct {
	name, dialect, body string
	text, reasoning     string
	calls               []model.ToolCall
	finish              model.Finish
	usage               model.Usage
	parts               []model.Part // all of them, if their order or state matters
}

var quirks = []quirk{
	{
		name: "members of the older form without a value", dialect: "openai",
		body: `{"choices":[{"message":{"content":"hi","function_call":{"name":"","arguments":""}},"finish_reason":"stop"}]}`, text: "hi", finish: model.FinishStop,
	},
	{
		name: "members of the older form without a value, streamed", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"content":"h","function_call":{"name":"","arguments":""}}}]}`, `{"choices":[{"delta":{"content":"i","function_call":{"name":"","arguments":""}},"finish_reason":"stop"}]}`),
		text: "hi", finish: model.FinishStop,
	},
	{
		name: "an empty custom call beside the true one", dialect: "openai",
		body:  `{"choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"custom":{"name":"","input":""}}]},"finish_reason":"tool_calls"}]}`,
		calls: []model.ToolCall{{ID: "a", Name: "f", Args: "{}"}}, finish: model.FinishCalls,
	},
	{
		name: "blanks before the body", dialect: "openai",
		body: "\n\n         \n\n" + `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`,
		text: "hi", finish: model.FinishStop, usage: model.Usage{In: 3, Out: 1},
	},
	{
		name: "comments, CRLF, no blank lines, no space", dialect: "openai",
		body: ": OPENROUTER PROCESSING\r\n\r\nid: 1\r\nevent: chunk\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\r\ndata: [DONE]\r\n",
		text: "ab", finish: model.FinishStop,
	},
	{
		name: "data over several lines", dialect: "openai",
		body: "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n", text: "a", finish: model.FinishStop,
	},
	{
		name: "no [DONE], no last line end", dialect: "openai",
		body: "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}", text: "a", finish: model.FinishStop,
	},
	{
		name: "[DONE] without a reason", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"content":"a"}}]}`, "[DONE]"), text: "a", finish: model.FinishUnknown,
	},
	{
		name: "the reason is not erased by what trails", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}`, `{"choices":[{"delta":{"content":""},"finish_reason":null}],"usage":{"prompt_tokens":5,"completion_tokens":6,"total_tokens":11}}`, "[DONE]"),
		text: "a", finish: model.FinishLength, usage: model.Usage{In: 5, Out: 6},
	},
	{
		name: "calls in turns, index going backwards, no type", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":"}"}}]}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`),
		calls: []model.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}, {ID: "b", Name: "g", Args: "{}"}}, finish: model.FinishCalls,
	},
	{
		name: "a trailing piece with empty arguments is no call", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"type":"function","function":{"arguments":""}}]},"finish_reason":"stop"}]}`, "[DONE]"),
		calls: []model.ToolCall{{ID: "a", Name: "f", Args: "{}"}}, finish: model.FinishCalls,
	},
	{
		name: "all calls under one index", dialect: "openai",
		body:  sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"f","arguments":"{\"y\":2}"}}]},"finish_reason":"tool_calls"}]}`),
		calls: []model.ToolCall{{ID: "a", Name: "f", Args: "{}"}, {ID: "b", Name: "f", Args: `{"y":2}`}}, finish: model.FinishCalls,
	},
	{
		name: "no index", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}}]}`, `{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`),
		calls: []model.ToolCall{{ID: "a", Name: "f", Args: "{}"}, {ID: "b", Name: "g", Args: "{}"}}, finish: model.FinishCalls,
	},
	{
		name: "a name in every piece, and in two", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"id":"b","function":{"name":"get_","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"}"}},{"index":1,"function":{"name":"it","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`),
		calls: []model.ToolCall{{ID: "a", Name: "f", Args: "{}"}, {ID: "b", Name: "get_it", Args: "{}"}}, finish: model.FinishCalls,
	},
	{
		name: "arguments that are an object", dialect: "openai",
		body:  `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x": 1}}}]},"finish_reason":"stop"}]}`,
		calls: []model.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}}, finish: model.FinishCalls,
	},
	{
		name: "the older form of a call", dialect: "openai",
		body:  sse(`{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{"}}}]}`, `{"choices":[{"delta":{"function_call":{"arguments":"}"}},"finish_reason":"function_call"}]}`),
		calls: []model.ToolCall{{Name: "f", Args: "{}"}}, finish: model.FinishCalls,
	},
	{
		name: "content in pieces with thinking", dialect: "openai",
		body: `{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"14"},{"type":"text","text":"4"}]},"finish_reason":"stop"}]}`,
		text: "144", reasoning: "hm", finish: model.FinishStop,
	},
	{
		name: "content in pieces, streamed", dialect: "openai",
		body: sse(`{"p":"abc","choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`, `{"choices":[{"delta":{"content":"1"}}]}`, `{"choices":[{"delta":{"content":"44"},"finish_reason":"model_length"}]}`),
		text: "144", reasoning: "hm", finish: model.FinishLength,
	},
	{
		name: "reasoning under its other name", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"content":"","reasoning":"hm"}}]}`, `{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`),
		text: "a", reasoning: "hm", finish: model.FinishStop,
	},
	{
		name: "reasoning under both names", dialect: "openai",
		body: `{"choices":[{"message":{"content":"a","reasoning":"hm","reasoning_content":"hm"},"finish_reason":"stop"}]}`,
		text: "a", reasoning: "hm", finish: model.FinishStop,
	},
	{
		name: "cached and hidden tokens", dialect: "openai",
		body: `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":66,"completion_tokens":6,"total_tokens":100,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":null}}`,
		text: "a", finish: model.FinishStop, usage: model.Usage{In: 66, Out: 34, Reasoning: 28, CacheRead: 64},
	},
	{
		name: "usage beside the chunk", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":5,"completion_tokens":6,"total_tokens":11}}}`),
		text: "a", finish: model.FinishStop, usage: model.Usage{In: 5, Out: 6},
	},
	{
		name: "the text in both forms", dialect: "openai",
		body: sse(`{"choices":[{"index":0,"text":"a","delta":{"content":"a"}}]}`, `{"choices":[{"index":0,"text":"","delta":{"content":""},"finish_reason":"eos"}]}`), text: "a", finish: model.FinishStop,
	},
	{
		name: "padding", dialect: "openai",
		body: sse(`{"id":7,"p":"abcdefgh","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null,"p":"x"}]}`, `{"p":"ab","choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":6,"num_cached_tokens":4}}`, "[DONE]"),
		text: "a", finish: model.FinishStop, usage: model.Usage{In: 5, Out: 6, CacheRead: 4},
	},
	{
		name: "the whole so far beside each piece, usage with all", dialect: "openai",
		body: sse(`{"object":"chat.completion.chunk","choices":[{"index":0,"message":{"content":"a"},"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6,"cost":{"total_cost":0.1}}}`,
			`{"object":"chat.completion.done","choices":[{"index":0,"message":{"content":"ab"},"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":9,"total_tokens":14,"reasoning_tokens":7}}`),
		text: "ab", finish: model.FinishStop, usage: model.Usage{In: 5, Out: 9, Reasoning: 7},
	},
	{
		name: "calls without id and type", dialect: "openai",
		body:  `{"choices":[{"message":{"content":"","tool_calls":[{"id":"","function":{"name":"f","arguments":"{}"}},{"id":null,"function":{"name":"g","arguments":{"x":[1, 2]}}}]},"finish_reason":"tool_calls"}]}`,
		calls: []model.ToolCall{{Name: "f", Args: "{}"}, {Name: "g", Args: `{"x":[1,2]}`}}, finish: model.FinishCalls,
	},
	{
		name: "a first chunk without choices, filter results in all", dialect: "openai",
		body: sse(`{"choices":[],"prompt_filter_results":[{"prompt_index":0}],"id":"","model":""}`, `{"choices":[{"index":0,"delta":{"content":"a","refusal":null},"content_filter_results":{}}],"model":"m"}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","content_filter_offsets":{}}]}`, "[DONE]"),
		text: "a", finish: model.FinishStop,
	},
	{
		name: "events that keep the connection open", dialect: "openai",
		body: "data: null\n\nevent: ping\ndata: \"\"\n\n" + sse(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`), text: "a", finish: model.FinishStop,
	},
	{
		name: "content of one piece, a call that takes text", dialect: "openai",
		body: `{"choices":[{"message":{"content":{"type":"text","text":"a"},"tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"x = 1"}}]},"finish_reason":"tool_calls"}]}`,
		text: "a", calls: []model.ToolCall{{ID: "c", Name: "f", Args: "x = 1"}}, finish: model.FinishCalls,
	},
	{
		name: "a text completed", dialect: "ollama", body: `{"model":"m","response":"a","done":false}` + "\n" + `{"model":"m","response":"b","thinking":"","done":true,"done_reason":"stop","context":[1]}`, text: "ab", finish: model.FinishStop,
	},
	{
		name: "numbers that are no integers", dialect: "openai",
		body: `{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5.0,"completion_tokens":"6","total_tokens":null,"prompt_tokens_details":{"cached_tokens":null}}}`,
		text: "a", finish: model.FinishStop, usage: model.Usage{In: 5, Out: 6},
	},
	{
		name: "only the first choice counts", dialect: "openai",
		body: sse(`{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"a"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`),
		text: "a", finish: model.FinishStop,
	},
	{
		name: "the whole answer in one event", dialect: "openai",
		body: sse(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, "[DONE]"), text: "a", finish: model.FinishStop,
	},
	{
		name: "the answer again at the end", dialect: "openai",
		body: sse(`{"choices":[{"delta":{"content":"a"},"message":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":""},"message":{"content":"a"},"finish_reason":"stop"}]}`), text: "a", finish: model.FinishStop,
	},
	{
		name: "a word of its own", dialect: "openai",
		body: `{"choices":[{"message":{"content":"a"},"finish_reason":"because"}]}`, text: "a", finish: model.FinishUnknown,
	},
	{
		name: "a refusal", dialect: "openai",
		body: `{"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}`, text: "No.", finish: model.FinishRefusal,
	},
	{
		name: "the word error in an answer", dialect: "openai",
		body: `{"choices":[{"message":{"content":"a","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"error":"x"}}}]},"finish_reason":"stop"}],"error":null}`,
		text: "a", calls: []model.ToolCall{{ID: "a", Name: "f", Args: `{"error":"x"}`}}, finish: model.FinishCalls,
	},
	{
		name: "lines", dialect: "ollama",
		body: `{"model":"m","message":{"role":"assistant","content":"a","thinking":"hm"},"done":false}` + "\n\n" + `{"message":{"content":"b"},"done":false}` + "\r\n" + `{"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":6}`,
		text: "ab", reasoning: "hm", finish: model.FinishStop, usage: model.Usage{In: 5, Out: 6},
	},
	{
		name: "spread over lines", dialect: "ollama",
		body: "{\n  \"message\": {\n    \"content\": \"a\"\n  },\n  \"done\": true\n}\n", text: "a", finish: model.FinishStop,
	},
	{
		name: "calls of one index and without id", dialect: "ollama",
		body: `{"message":{"content":"","tool_calls":[{"function":{"index":0,"name":"f","arguments":{"x":1}}}]},"done":false}` + "\n" +
			`{"message":{"tool_calls":[{"function":{"index":0,"name":"f","arguments":{}}}]},"done":false}` + "\n" + `{"done":true,"done_reason":"stop"}`,
		calls: []model.ToolCall{{Name: "f", Args: `{"x":1}`}, {Name: "f", Args: "{}"}}, finish: model.FinishCalls,
	},
	{
		name: "cut by the limit", dialect: "ollama", body: `{"message":{"content":"a"},"done":true,"done_reason":"length"}`, text: "a", finish: model.FinishLength,
	},
}

// allQuirks returns those of every dialect.
func allQuirks() []quirk {
	return slices.Concat(quirks, claudeQuirks, geminiQuirks, responsesQuirks, converseQuirks, formQuirks)
}

func TestQuirks(t *testing.T) {
	for _, q := range allQuirks() {
		for how, reader := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "with an early end": iotest.DataErrReader,
		} {
			t.Run(q.name+" "+how, func(t *testing.T) {
				var streamed, thought strings.Builder
				p := planFor(q.dialect)
				p.Sink = func(t engine.Token) {
					if t.Reasoning {
						thought.WriteString(t.Text)
					} else {
						streamed.WriteString(t.Text)
					}
				}
				r, err := p.Decode(200, http.Header{}, reader(strings.NewReader(q.body)))
				if err != nil {
					t.Fatal(err)
				}
				var calls []model.ToolCall
				for _, c := range r.Calls() {
					calls = append(calls, *c)
				}
				if r.Text() != q.text || Joined(r.Parts, model.PartReasoning, "") != q.reasoning || !reflect.DeepEqual(calls, q.calls) {
					t.Errorf("parts %+v, calls %+v", r.Parts, calls)
				}
				if r.Finish != q.finish || r.Usage != q.usage {
					t.Errorf("finish %s usage %+v", r.Finish, r.Usage)
				}
				if q.parts != nil && !reflect.DeepEqual(r.Parts, q.parts) {
					t.Errorf("parts %+v", r.Parts)
				}
				if q.finish != model.FinishRefusal && streamed.String() != q.text || thought.String() != q.reasoning {
					t.Errorf("streamed %q and %q", streamed.String(), thought.String())
				}
			})
		}
	}
}

func TestTooLargeAnAnswer(t *testing.T) {
	body := io.MultiReader(strings.NewReader(`{"choices":[{"message":{"content":"`), io.LimitReader(endless{}, maxAnswer+1))
	_, err := planFor("openai").Decode(200, http.Header{}, body)
	if err == nil || err.Kind != engine.KindBadResponse || !strings.Contains(err.Message, "larger than") {
		t.Errorf("%v", err)
	}
}

// TestHostileStreamsAreLinear sends pieces whose handling could grow with what came before.
func TestHostileStreamsAreLinear(t *testing.T) {
	for name, body := range map[string]func(n int) string{
		"one event in many lines": func(n int) string { return "data: [\n" + strings.Repeat("data: 1,\n", n) },
		"a call in many pieces": func(n int) string {
			return strings.Repeat(sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"nm","arguments":"x"}}]}}]}`), n)
		},
		"many calls": func(n int) string {
			return strings.Repeat(sse(`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"n"}},{"id":"b"}]}}]}`), n)
		},
	} {
		linear(t, name, func(n int) {
			if _, err := planFor("openai").Decode(200, http.Header{}, strings.NewReader(body(n))); err == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

// linear runs f with an input and one four times as large, and requires little more than four times the memory:
// handling that grows with what came before copies what came before.
func linear(t *testing.T, name string, f func(n int)) {
	t.Helper()
	allocated := func(n int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f(n)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	f(1000)
	if some, more := allocated(2_500), allocated(10_000); more > 6*some+1<<20 {
		t.Errorf("%s: %d bytes, and %d for four times as much", name, some, more)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}

// TestEveryCutIsSeen cuts good answers after every byte: the rest must be an error, or the whole answer if nothing of
// it is missing.
func TestEveryCutIsSeen(t *testing.T) {
	for _, q := range allQuirks() {
		if strings.Contains(q.body, "[DONE]") && q.finish == model.FinishUnknown {
			continue
		}
		p := planFor(q.dialect)
		whole, err := p.Decode(200, http.Header{}, strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		step := 1
		if testing.Short() {
			step = 3
		}
		for n := 0; n < len(q.body); n += step {
			r, err := p.Decode(200, http.Header{}, strings.NewReader(q.body[:n]))
			if err == nil && !reflect.DeepEqual(r.Parts, whole.Parts) {
				t.Errorf("%s cut after %d bytes is a success: %+v", q.name, n, r.Parts)
			}
			if err != nil && !err.Model.Retryable {
				t.Errorf("%s cut after %d bytes is not tried again: %v", q.name, n, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, q := range quirks {
		f.Add(q.dialect == "ollama", 200, q.body)
	}
	f.Add(false, 400, `{"error":{"message":"m","code":5,"metadata":{"raw":"r"}}}`)
	f.Add(false, 429, `[{"error":{"details":[{"retryDelay":"3s","reason":"R"}]}}]`)
	f.Fuzz(func(t *testing.T, ollama bool, status int, body string) {
		decodes(t, planFor(map[bool]string{false: "openai", true: "ollama"}[ollama]), status, body)
	})
}

// decodes checks what must hold for every answer, however broken.
func decodes(t *testing.T, p *Plan, status int, body string) {
	r, err := p.Decode(status, http.Header{}, strings.NewReader(body))
	if (r == nil) == (err == nil) {
		t.Fatal("neither an answer nor an error, or both")
	}
	if err != nil {
		if err.Kind == "" || err.Code == "" || err.Message == "" {
			t.Errorf("an error without kind, code or message: %+v", err)
		}
		return
	}
	slow, slowErr := p.Decode(status, http.Header{}, iotest.OneByteReader(strings.NewReader(body)))
	if slowErr != nil || !reflect.DeepEqual(r, slow) {
		t.Errorf("read byte by byte: %+v %v, at once: %+v", slow, slowErr, r)
	}
	if settled, err := p.Settle(r); (settled == nil) == (err == nil) {
		t.Errorf("settled as %+v and %v", settled, err)
	}
}
