package wire

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// message writes one message of an event stream, with a header of every type in addition to the given ones.
func message(payload string, headers ...string) string {
	var h []byte
	for kind, value := range [][]byte{
		{}, {}, {1}, {0, 2}, {0, 0, 0, 3}, {0, 0, 0, 0, 0, 0, 0, 4}, {0, 3, 'a', 'b', 'c'}, {0, 0}, make([]byte, 8), make([]byte, 16),
	} {
		h = append(append(append(h, 1, 'x'), byte(kind)), value...)
	}
	for i := 0; i < len(headers); i += 2 {
		h = append(append(append(h, byte(len(headers[i]))), headers[i]...), textHeader)
		h = append(binary.BigEndian.AppendUint16(h, uint16(len(headers[i+1]))), headers[i+1]...)
	}
	m := binary.BigEndian.AppendUint32(nil, uint32(preludeSize+len(h)+len(payload)+checksumSize))
	m = binary.BigEndian.AppendUint32(m, uint32(len(h)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, h...), payload...)
	return string(binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m)))
}

// framed writes a stream of name, payload, name, payload …
func framed(pairs ...string) string {
	out := ""
	for i := 0; i < len(pairs); i += 2 {
		out += message(pairs[i+1], ":event-type", pairs[i], ":content-type", "application/json", ":message-type", "event")
	}
	return out
}

// chunks writes a stream of the events of a model with another form.
func chunks(of ...string) string {
	out := ""
	for _, c := range of {
		out += framed("chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(c))+`","p":"abc"}`)
	}
	return out
}

var converseQuirks = []quirk{
	{
		name: "a stream of blocks", dialect: "converse",
		body: framed("messageStart", `{"p":"ab","role":"assistant"}`,
			"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"h"}},"p":"a"}`,
			"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"m"}}}`,
			"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`,
			"contentBlockStop", `{"contentBlockIndex":0}`,
			"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"größ"}}`,
			"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"citation":{"title":"t","source":"s"}}}`,
			"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"er"}}`,
			"contentBlockStop", `{"contentBlockIndex":1}`,
			"contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"name":"f","toolUseId":"t1"}}}`,
			"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"x\""}}}`,
			"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":": 1}"}}}`,
			"contentBlockStop", `{"contentBlockIndex":2}`,
			"contentBlockStart", `{"contentBlockIndex":3,"start":{"toolUse":{"name":"g","toolUseId":"t2"}}}`,
			"contentBlockDelta", `{"contentBlockIndex":3,"delta":{"toolUse":{"input":""}}}`,
			"contentBlockStop", `{"contentBlockIndex":3}`,
			"contentBlockStart", `{"contentBlockIndex":4,"start":{"toolUse":{"name":"search","toolUseId":"s1","type":"server_tool_use"}}}`,
			"contentBlockDelta", `{"contentBlockIndex":4,"delta":{"toolUse":{"input":"{}"}}}`,
			"contentBlockStop", `{"contentBlockIndex":4}`,
			"contentBlockStart", `{"contentBlockIndex":5,"start":{"toolResult":{"toolUseId":"s1","type":"server_tool_result","status":"success"}}}`,
			"messageStop", `{"stopReason":"tool_use"}`,
			"metadata", `{"metrics":{"latencyMs":1},"usage":{"inputTokens":10,"outputTokens":5,"cacheReadInputTokens":100,"cacheWriteInputTokens":1000,"totalTokens":1115}}`),
		text: "größer", reasoning: "hm", calls: []model.ToolCall{{ID: "t1", Name: "f", Args: `{"x": 1}`}, {ID: "t2", Name: "g"}},
		finish: model.FinishCalls, usage: model.Usage{In: 1110, Out: 5, CacheRead: 100, CacheWrite: 1000},
	},
	{
		name: "Amazon's own model in chunks", dialect: "converse",
		body: chunks(`{"messageStart":{"role":"assistant"}}`, `{"contentBlockDelta":{"delta":{"text":"a"},"contentBlockIndex":0}}`, `{"contentBlockStop":{"contentBlockIndex":0}}`,
			`{"messageStop":{"stopReason":"max_tokens"}}`, `{"metadata":{"usage":{"inputTokens":1,"outputTokens":2},"metrics":{},"trace":{}},"amazon-bedrock-invocationMetrics":{}}`),
		text: "a", finish: model.FinishLength, usage: model.Usage{In: 1, Out: 2},
	},
	{
		name: "Claude in chunks", dialect: "anthropic",
		body: chunks(`{"type":"message_start","message":{"id":"msg_bdrk_1","type":"message","model":"c","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"yes"}}`,
			`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`,
			`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":3,"outputTokenCount":5}}`),
		text: "yes", finish: model.FinishStop, usage: model.Usage{In: 3, Out: 7},
	},
	{
		name: "whole, with a thought, what it quotes and a filter", dialect: "converse",
		body: `{"metrics":{"latencyMs":1},"output":{"message":{"content":[{"reasoningContent":{"reasoningText":{"signature":"s","text":"hm"}}},{"reasoningContent":{"redactedContent":"cg=="}},
			{"citationsContent":{"content":[{"text":"one "}],"citations":[{"title":"t"}]}},{"text":"two"}],"role":"assistant"}},"stopReason":"guardrail_intervened","usage":{"inputTokens":3,"outputTokens":1,"totalTokens":4}}`,
		text: "one two", reasoning: "hm", finish: model.FinishFilter, usage: model.Usage{In: 3, Out: 1},
		parts: []model.Part{
			{Kind: model.PartReasoning, Text: "hm", Opaque: &model.Opaque{Provider: "bedrock", Data: "s"}}, {Kind: model.PartReasoning, Opaque: &model.Opaque{Provider: "bedrock", Data: "cg=="}},
			{Kind: model.PartText, Text: "one "}, {Kind: model.PartText, Text: "two"},
		},
	},
}

// TestEventStreamForms: the first events of a recorded stream determine its form.
func TestEventStreamForms(t *testing.T) {
	for _, q := range converseQuirks {
		want := map[string]string{"converse": "*wire.Converse", "anthropic": "*wire.Anthropic"}[q.dialect]
		if got := fmt.Sprintf("%T", FormOf([]byte(q.body))); got != want {
			t.Errorf("%s: %s", q.name, got)
		}
	}
}

// TestEventStreamErrors: errors that a stream reports instead of an event, and damaged streams.
func TestEventStreamErrors(t *testing.T) {
	begun := framed("messageStart", `{"role":"assistant"}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"so far"}}`)
	whole := begun + framed("messageStop", `{"stopReason":"end_turn"}`)
	flipped := func(at int) string {
		b := []byte(whole)
		b[at] ^= 1
		return string(b)
	}
	for name, row := range map[string]struct {
		body string
		kind engine.ErrKind
		says string
	}{
		"throttled":           {begun + message(`{"message":"Too many requests"}`, ":message-type", "exception", ":exception-type", "throttlingException"), engine.KindRateLimit, "Too many requests"},
		"not valid":           {message(`{"message":"The model returned: Input is too long for requested model."}`, ":message-type", "exception", ":exception-type", "validationException"), engine.KindContextLength, "too long"},
		"wrong parameter":     {message(`{"message":"temperature: range"}`, ":message-type", "exception", ":exception-type", "validationException"), engine.KindBadRequest, "temperature"},
		"broken off":          {begun + message(`{"originalStatusCode":500,"originalMessage":"o","message":"m"}`, ":message-type", "exception", ":exception-type", "modelStreamErrorException"), engine.KindServer, "m"},
		"an error":            {begun + message("", ":message-type", "error", ":error-code", "internalServerException", ":error-message", "it broke"), engine.KindServer, "it broke"},
		"no exception's name": {begun + message(`{}`, ":message-type", "exception"), engine.KindServer, "inside its answer"},
		"cut between":         {begun, engine.KindTruncated, "before the answer did"},
		"cut within":          {whole[:len(begun)+3], engine.KindTruncated, "before the answer did"},
		"cut in the payload":  {whole[:len(begun)+90], engine.KindTruncated, "before the answer did"},
		"lengths damaged":     {flipped(6), engine.KindBadResponse, "checksum of its lengths"},
		"payload damaged":     {flipped(len(begun) - 9), engine.KindBadResponse, "its checksum"},
		"no JSON":             {framed("chunk", "nonsense"), engine.KindBadResponse, "not valid JSON"},
		"no base64":           {framed("chunk", `{"bytes":"%%"}`), engine.KindBadResponse, "base64"},
		"wrong type":          {framed("contentBlockDelta", `{"contentBlockIndex":"x"}`), engine.KindBadResponse, "converse event"},
		"zeros":               {strings.Repeat("\x00", 200), engine.KindBadResponse, "checksum of its lengths"},
	} {
		r, err := planFor("converse").Decode(200, http.Header{}, strings.NewReader(row.body))
		if err == nil || err.Kind != row.kind || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
		if strings.HasPrefix(row.body, begun) && err.Raw != "so far" {
			t.Errorf("%s: what had come is %q", name, err.Raw)
		}
	}
}

// TestEventStreamLengths: a message announced as larger than the provider's maximum is not waited for, and one whose
// headers do not fit into it is invalid.
func TestEventStreamLengths(t *testing.T) {
	for _, sizes := range [][2]uint32{{1 << 31, 0}, {100, 85}, {15, 0}, {0, 0}, {100, 1<<32 - 1}} {
		m := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, sizes[0]), sizes[1])
		m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
		var bad *malformed
		if _, err := readFrame(io.MultiReader(strings.NewReader(string(m)), endless{})); !errors.As(err, &bad) || !strings.Contains(bad.what, "cannot have") {
			t.Errorf("%v: %v", sizes, err)
		}
	}
	for _, headers := range []string{"\x00", "\x01", "\x01x", "\x01x\x0a", "\x01x\x07", "\x01x\x07\x00\x05abc", "\x01x\x05\x00", "\x05x"} {
		if got, ok := frameHeaders([]byte(headers)); ok {
			t.Errorf("%q: %v", headers, got)
		}
	}
}

func FuzzEventStream(f *testing.F) {
	for _, q := range converseQuirks {
		f.Add([]byte(q.body))
	}
	f.Add([]byte(message(`{"message":"m"}`, ":message-type", "exception", ":exception-type", "throttlingException")))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := planFor("converse")
		if form := FormOf(body); form != nil {
			p.Form = form
		}
		decodes(t, p, 200, string(body))
	})
}
