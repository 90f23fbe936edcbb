package wire

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

func signed(p model.Part, data string) model.Part {
	p.Opaque = &model.Opaque{Provider: "google", Data: data}
	return p
}

func textPart(s string) model.Part { return model.Part{Kind: model.PartText, Text: s} }

func thoughtPart(s string) model.Part { return model.Part{Kind: model.PartReasoning, Text: s} }

func calledPart(id, name, args string) model.Part {
	return model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: id, Name: name, Args: args}}
}

// part writes a candidate of one part.
func candidate(parts, rest string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + rest + `}]}`
}

var geminiQuirks = []quirk{
	{
		name: "thoughts are reasoning", dialect: "gemini",
		body: `{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"a"}],"role":"model"},"finishReason":"STOP","index":0,"avgLogprobs":-0.1}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":30,"totalTokenCount":37},"modelVersion":"gemini-2.5-flash","responseId":"r1"}`,
		text: "a", reasoning: "hm", finish: model.FinishStop, usage: model.Usage{In: 5, Out: 32, Reasoning: 30},
	},
	{
		name: "signatures stay at their parts", dialect: "gemini",
		body:  candidate(`{"text":"a","thoughtSignature":"AA=="},{"functionCall":{"name":"f","args":{"x":1},"id":"c1"},"thoughtSignature":"BB=="},{"functionCall":{"name":"g","args":{}}}`, `,"finishReason":"STOP"`),
		text:  "a",
		calls: []model.ToolCall{{ID: "c1", Name: "f", Args: `{"x":1}`}, {Name: "g", Args: "{}"}}, finish: model.FinishCalls,
		parts: []model.Part{signed(textPart("a"), "AA=="), signed(calledPart("c1", "f", `{"x":1}`), "BB=="), calledPart("", "g", "{}")},
	},
	{
		name: "a signature on an empty last piece", dialect: "gemini",
		body:  sse(candidate(`{"text":"Hel"}`, ""), candidate(`{"text":"lo"}`, ""), candidate(`{"text":"","thoughtSignature":"AA=="}`, `,"finishReason":"STOP"`)),
		text:  "Hello",
		parts: []model.Part{textPart("Hello"), signed(textPart(""), "AA==")}, finish: model.FinishStop,
	},
	{
		name: "what follows a signed piece is another part", dialect: "gemini",
		body:  sse(candidate(`{"text":"a","thoughtSignature":"AA=="}`, ""), candidate(`{"text":"b"}`, ""), candidate(`{"text":"c"}`, `,"finishReason":"STOP"`)),
		text:  "abc",
		parts: []model.Part{signed(textPart("a"), "AA=="), textPart("bc")}, finish: model.FinishStop,
	},
	{
		name: "the last usage counts", dialect: "gemini",
		body: sse(`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9}}`,
			`{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"cachedContentTokenCount":3,"toolUsePromptTokenCount":20,"totalTokenCount":33}}`,
			`{"usageMetadata":{"trafficType":"ON_DEMAND"}}`),
		text: "ab", finish: model.FinishStop, usage: model.Usage{In: 29, Out: 4, CacheRead: 3},
	},
	{
		name: "a stream as a list, with numbers for words", dialect: "gemini",
		body: "[" + candidate(`{"text":"a"}`, "") + "\n,\r\n" + `{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":2}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4}}` + "\n]\n",
		text: "ab", finish: model.FinishLength, usage: model.Usage{In: 9, Out: 4},
	},
	{
		name: "code that the provider ran goes back as it came", dialect: "gemini",
		body: candidate(`{"executableCode":{"language":"PYTHON","code":"print( 1 )"},"thoughtSignature":"AA=="},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}},{"text":"1"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`, `,"finishReason":"STOP"`),
		text: "1", finish: model.FinishStop,
		parts: []model.Part{
			signed(thoughtPart(""), `{"executableCode":{"language":"PYTHON","code":"print( 1 )"},"thoughtSignature":"AA=="}`),
			signed(thoughtPart(""), `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}}`), textPart("1"),
			{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,AAAA", MIME: "image/png"}},
		},
	},
	{
		name: "a part that nobody knows yet", dialect: "gemini",
		body: candidate(`{"text":"a"},{"hologram":{"x":[1]}},{},{"text":null}`, `,"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["q"]}`),
		text: "a", finish: model.FinishStop,
	},
	{
		name: "a blocked prompt", dialect: "gemini", body: `{"promptFeedback":{"blockReason":"OTHER"},"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7}}`,
		finish: model.FinishFilter, usage: model.Usage{In: 7},
	},
	{
		name: "a blocked prompt, streamed", dialect: "gemini", body: sse(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT","safetyRatings":[]}}`), finish: model.FinishFilter,
	},
	{name: "safety", dialect: "gemini", body: `{"candidates":[{"finishReason":"SAFETY","safetyRatings":[{"category":"HARM","probability":"HIGH","blocked":true}]}]}`, finish: model.FinishFilter},
	{name: "recitation", dialect: "gemini", body: sse(candidate(`{"text":"a"}`, ""), `{"candidates":[{"finishReason":"RECITATION","index":0}]}`), text: "a", finish: model.FinishFilter},
	{name: "a broken call", dialect: "gemini", body: `{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: f(x"}]}`, finish: model.FinishUnknown},
	{
		name: "all tokens went into thoughts", dialect: "gemini", body: `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":5,"thoughtsTokenCount":90,"totalTokenCount":95}}`,
		finish: model.FinishLength, usage: model.Usage{In: 5, Out: 90, Reasoning: 90},
	},
	{
		name: "only the first candidate counts", dialect: "gemini",
		body: `{"candidates":[{"index":1,"content":{"parts":[{"text":"x"}]}},{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`, text: "a", finish: model.FinishStop,
	},
}

func TestGeminiWithoutAnswer(t *testing.T) {
	for body, want := range map[string]engine.ErrKind{
		`{}`: engine.KindBadResponse, `{"candidates":[]}`: engine.KindBadResponse, `{"candidates":[{"content":{"parts":[7]}}]}`: engine.KindBadResponse,
		`[]`: engine.KindTruncated, `[` + candidate(`{"text":"a"}`, "") + `]`: engine.KindTruncated, sse(candidate(`{"text":"a"}`, "")): engine.KindTruncated,
		`[` + candidate(`{"text":"a"}`, "") + `,{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]`:    engine.KindOverloaded,
		sse(candidate(`{"text":"a"}`, ""), `{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}`): engine.KindRateLimit,
	} {
		_, err := planFor("gemini").Decode(200, http.Header{}, strings.NewReader(body))
		if err == nil || err.Kind != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

// Arguments in pieces are requested only by hosts, and not read: the call fails before its tool could be called without
// them.
func TestGeminiArgumentsInPieces(t *testing.T) {
	for _, call := range []string{`{"name":"f","willContinue":true}`, `{"name":"f","partialArgs":[{"jsonPath":"$.a","stringValue":"x"}]}`} {
		_, err := planFor("gemini").Decode(200, http.Header{}, strings.NewReader(sse(candidate(`{"functionCall":`+call+`}`, `,"finishReason":"STOP"`))))
		if err == nil || err.Kind != engine.KindBadResponse || !strings.Contains(err.Message, "streamFunctionCallArguments") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestGeminiVersion(t *testing.T) {
	for model, want := range map[string]float64{
		"gemini-2.5-flash": 2.5, "gemini-2.0-flash-001": 2, "gemini-3-pro-preview": 3, "gemini-3.1-pro": 3.1, "gemini-1.5-pro": 1.5, "models/gemini-2.5-pro": 2.5,
		"gemini-flash-latest": 3, "gemini-10-pro": 10, "gemma-3-27b-it": 0, "tunedModels/x": 0,
	} {
		if got := GeminiVersion(model); got != want {
			t.Errorf("%s: %v, want %v", model, got, want)
		}
	}
}
