package llm_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
)

// pieces is the body of an answer: a head, one piece repeated up to size bytes, and a tail. It measures the memory in
// use while it is read.
type pieces struct {
	head, piece, tail string
	size              int
	read, next, most  int
	rest              string
	base              uint64
}

func (p *pieces) RoundTrip(req *http.Request) (*http.Response, error) {
	p.rest = p.head
	kind := "text/event-stream"
	if strings.HasPrefix(p.piece, "{") {
		kind = "application/x-ndjson"
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(p), Request: req, ProtoMajor: 1, ProtoMinor: 1}, nil
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.read >= p.next {
		p.next += 8 << 20
		p.most = max(p.most, int((int64(live())-int64(p.base))>>20))
	}
	if p.rest == "" {
		switch {
		case p.read+len(p.piece)+len(p.tail) <= p.size:
			p.rest = strings.Repeat(p.piece, min(200, (p.size-p.read-len(p.tail))/len(p.piece)))
		case p.tail != "":
			p.rest, p.tail = p.tail, ""
		default:
			return 0, io.EOF
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	p.read += n
	return n, nil
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Promise 26.124 (sound): an answer streamed as 64 MB in small pieces is read within 100 MB.
func TestPromise_26_124_SmallPieces(t *testing.T) {
	openai := func(delta string) string { return "data: {\"choices\":[{\"index\":0,\"delta\":{" + delta + "}}]}\n\n" }
	claude := func(delta string) string {
		return "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{" + delta + "}}\n\n"
	}
	claudeHead := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"c\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
	claudeTail := "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	gemini := func(part string) string {
		return "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{" + part + "}]}}]}\n\n"
	}
	const openaiTail = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	const geminiTail = "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\".\"}]},\"finishReason\":\"STOP\"}]}\n\n"
	for name, c := range map[string]struct {
		model, head, piece, tail string
	}{
		"openai text":           {"openai/a", "", openai(`"content":"x"`), openaiTail},
		"openai reasoning":      {"deepseek/a", "", openai(`"reasoning_content":"x"`), openai(`"content":"."`) + openaiTail},
		"openai details":        {"openrouter/a", "", openai(`"reasoning_details":[{"type":"reasoning.text","text":"x","index":0}]`), openai(`"content":"."`) + openaiTail},
		"openai encrypted":      {"openrouter/a", "", openai(`"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]`), openai(`"content":"."`) + openaiTail},
		"openai many details":   {"openrouter/a", "", openai(`"reasoning_details":[{},{},{},{},{},{},{},{}]`), openai(`"content":"."`) + openaiTail},
		"openai arguments":      {"openai/a", openai(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]`), openai(`"tool_calls":[{"index":0,"function":{"arguments":"x"}}]`), openaiTail},
		"openai calls":          {"openai/a", "", openai(`"tool_calls":[{"id":"","function":{"name":"f","arguments":"{}"}}]`), openaiTail},
		"openai calls together": {"openai/a", "", openai(`"tool_calls":[` + strings.Repeat(`{"function":{"name":"f"}},`, 50) + `{"function":{"name":"f"}}]`), openaiTail},
		"openai empty":          {"openai/a", "", "data: {}\n\n", openai(`"content":"."`) + openaiTail},
		"comments":              {"openai/a", "", ":\n", openai(`"content":"."`) + openaiTail},
		"one event":             {"openai/a", "", "data: 1\n", "\n" + openai(`"content":"."`) + openaiTail},
		"claude text":           {"anthropic/claude-sonnet-4-5", claudeHead, claude(`"type":"text_delta","text":"x"`), claudeTail},
		"claude blocks":         {"anthropic/claude-sonnet-4-5", claudeHead, "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n", claudeTail},
		"claude thoughts":       {"anthropic/claude-sonnet-4-5", claudeHead, "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n", claudeTail},
		"claude citations":      {"anthropic/claude-sonnet-4-5", claudeHead, claude(`"type":"citations_delta","citation":{"type":"x"}`), claudeTail},
		"claude signatures":     {"anthropic/claude-sonnet-4-5", claudeHead, claude(`"type":"signature_delta","signature":"x"`), claudeTail},
		"gemini text":           {"google/gemini-2.5-flash", "", gemini(`"text":"x"`), geminiTail},
		"gemini signed text":    {"google/gemini-2.5-flash", "", gemini(`"text":"x","thoughtSignature":"eA=="`), geminiTail},
		"gemini thoughts":       {"google/gemini-2.5-flash", "", gemini(`"text":"x","thought":true`), geminiTail},
		"gemini code":           {"google/gemini-2.5-flash", "", gemini(`"executableCode":{"code":"x"}`), geminiTail},
		"gemini calls":          {"google/gemini-2.5-flash", "", gemini(`"functionCall":{"name":"f","args":{}}`), geminiTail},
		"ollama text":           {"ollama/a", "", "{\"message\":{\"content\":\"x\"}}\n", "{\"message\":{\"content\":\".\"},\"done\":true}\n"},
		"ollama calls":          {"ollama/a", "", "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]}}\n", "{\"message\":{\"content\":\".\"},\"done\":true}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			size := 4 << 20
			switch {
			case testing.Short():
				size = 256 << 10
			case name == "openai text" || name == "openai details":
				size = 63 << 20
			}
			p := &pieces{head: c.head, piece: c.piece, tail: c.tail, size: size, base: live()}
			r := port(t, server(t), llm.WithTransport(p))
			e := effect(c.model, prompt("x"))
			e.Stream = true
			out := r.Do(t.Context(), e, func(engine.Token) {})
			p.most = max(p.most, int((int64(live())-int64(p.base))>>20))
			// A shorter stream may hold its share of 100 MB, or the memory of the maximum number of parts.
			if limit := max(100*size/(63<<20), 40); p.most > limit {
				t.Errorf("%d MB of %d bytes a piece: %d MB are held: %v", p.read>>20, len(c.piece), p.most, out.Err)
			}
			runtime.KeepAlive(out)
		})
	}
}
