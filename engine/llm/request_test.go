package llm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

func tools() []model.ToolDef {
	return []model.ToolDef{
		{Name: "compile", Description: "Compiles a file", Params: &generable.Type{Kind: generable.RecordType, Name: "compile", Fields: []generable.Field{{Name: "path", Type: generable.StrT}}}},
		{Name: "now", Description: "The time"},
	}
}

func callPart(id, name, args string) model.Part {
	return model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: id, Name: name, Args: args}}
}

func resultPart(id, name, text string) model.Part {
	return model.Part{Kind: model.PartResult, Result: &model.ToolResult{CallID: id, Name: name, Text: text}}
}

// scenarios are the requests whose wire form is in golden files.
func scenarios() map[string]*model.Request {
	user := []model.Message{model.TextMessage(model.RoleUser, "Is <b> & \"c\" fine?")}
	return map[string]*model.Request{
		"plain":       {Messages: user},
		"system":      {System: "Be brief.", Messages: user},
		"temperature": {Messages: user, Params: model.Params{Temperature: ptr(0.0)}},
		"params": {Messages: user, Params: model.Params{
			Temperature: ptr(0.7), TopP: ptr(0.9), MaxTokens: ptr(100), Seed: ptr(0), Stop: []string{"END"},
		}},
		"sampling":      {Messages: user, Params: model.Params{Temperature: ptr(0.7), TopP: ptr(0.9), MaxTokens: ptr(100), Stop: []string{"END"}}},
		"schema_strict": {System: "Answer in JSON.", Messages: user, Output: &model.Output{Type: verdict(), Structured: model.StructuredAuto}},
		"schema_loose":  {System: "Answer in JSON.", Messages: user, Output: &model.Output{Type: loose()}},
		"schema_list":   {Messages: user, Output: &model.Output{Type: generable.ListOfType(verdict())}},
		"guided":        {Messages: user, Output: &model.Output{Type: verdict(), Structured: model.StructuredGuided}},
		"tools": {Messages: []model.Message{
			user[0],
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Kind: model.PartReasoning, Text: "two calls"},
				{Kind: model.PartText, Text: "Looking."},
				callPart("call_a", "compile", `{"path":"a.go"}`), callPart("call_b", "now", "{}"),
			}},
			{Role: model.RoleTool, Parts: []model.Part{resultPart("call_a", "compile", "ok"), resultPart("call_b", "now", "noon")}},
		}, Tools: tools()},
		"tools_schema":    {Messages: user, Tools: tools(), Output: &model.Output{Type: verdict()}},
		"choice_required": {Messages: user, Tools: tools(), Choice: model.ToolChoice{Mode: model.ChoiceRequired}, Params: model.Params{ParallelCalls: ptr(false)}},
		"choice_tool":     {Messages: user, Tools: tools(), Choice: model.ToolChoice{Mode: model.ChoiceTool, Tool: "now"}},
		"choice_none":     {Messages: user, Tools: tools(), Choice: model.ToolChoice{Mode: model.ChoiceNone}},
		"effort":          {Messages: user, Params: model.Params{Effort: "low", MaxTokens: ptr(4000)}},
		"no_thinking":     {Messages: user, Params: model.Params{ReasoningTokens: ptr(0)}},
		"budget":          {Messages: user, Params: model.Params{ReasoningTokens: ptr(2000), MaxTokens: ptr(4000)}},
		"cache":           {System: "Be brief.", Messages: user, Tools: tools(), Params: model.Params{Cache: true}},
		"extra":           {Messages: user, Params: model.Params{Extra: json.RawMessage(`{"service_tier":"flex","user":"u1"}`)}},
		"image": {Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{
			{Kind: model.PartText, Text: "What is this?"},
			{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,iVBORw0KGgo="}},
		}}}},
		"image_url": {Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{
			{Kind: model.PartText, Text: "What is this?"},
			{Kind: model.PartImage, Image: &model.Image{URL: "https://example.com/a.png"}},
		}}}},
		"tool_picture": {Messages: []model.Message{
			user[0],
			{Role: model.RoleAssistant, Parts: []model.Part{callPart("call_a", "compile", `{"path":"a.go"}`), callPart("call_b", "now", "{}")}},
			{Role: model.RoleTool, Parts: []model.Part{resultPart("call_a", "compile", `["[picture 1]"]`), resultPart("call_b", "now", "noon")}},
			{Role: model.RoleUser, Parts: []model.Part{
				{Kind: model.PartText, Text: "What compile gave beside its text:"},
				{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,iVBORw0KGgo="}},
			}},
		}, Tools: tools()},
		"tool_picture_of": {Messages: []model.Message{
			user[0],
			{Role: model.RoleAssistant, Parts: []model.Part{callPart("call_a", "compile", `{"path":"a.go"}`), callPart("call_b", "now", "{}")}},
			{Role: model.RoleTool, Parts: []model.Part{resultPart("call_a", "compile", `["[picture 1]"]`), resultPart("call_b", "now", "noon")}},
			{Role: model.RoleUser, Parts: []model.Part{
				{Kind: model.PartText, Text: "What compile gave beside its text:", Of: new("call_a")},
				{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,iVBORw0KGgo="}, Of: new("call_a")},
			}},
		}, Tools: tools()},
		"drawn": {Messages: []model.Message{
			user[0],
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Kind: model.PartText, Text: "Here it is:"},
				{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,iVBORw0KGgo=", MIME: "image/png"}, Opaque: &model.Opaque{Provider: "google", Data: "c2ln"}},
			}},
			user[0],
		}},
		"aloud": {Messages: []model.Message{
			user[0],
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Kind: model.PartText, Text: "With words."},
				{Kind: model.PartAudio, Audio: &model.Audio{URL: "data:audio/wav;base64,UklGRg==", MIME: "audio/wav"}},
			}},
			user[0],
			{Role: model.RoleAssistant, Parts: []model.Part{{Kind: model.PartAudio, Audio: &model.Audio{URL: "data:audio/wav;base64,UklGRg==", MIME: "audio/wav"}}}},
			user[0],
		}},
		"image_first": {Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{
			{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,iVBORw0KGgo="}},
			{Kind: model.PartText, Text: "This is the first."},
			{Kind: model.PartText, Text: "And this the second:"},
			{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,QUJD"}},
			{Kind: model.PartText, Text: "Which is larger?"},
		}}}},
		"image_alone": {System: "Name it.", Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{
			{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,iVBORw0KGgo="}},
		}}}},
		"texts": {System: "Be <brief>.", Messages: []model.Message{
			{Role: model.RoleUser, Parts: []model.Part{{Kind: model.PartText, Text: "One & only"}, {Kind: model.PartText, Text: "two"}}},
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Kind: model.PartReasoning, Text: "a <thought>"}, {Kind: model.PartText, Text: "Yes,"}, {Kind: model.PartText, Text: " & no."},
				callPart("call_a", "now", `{"zone":"<utc>"}`),
			}},
			{Role: model.RoleTool, Parts: []model.Part{resultPart("call_a", "now", "<noon>"), resultPart("", "now", "")}},
			{Role: model.RoleAssistant, Parts: []model.Part{{Kind: model.PartReasoning, Text: "<done>"}, {Kind: model.PartText, Text: "It is <noon>."}}},
			{Role: model.RoleUser},
			{Role: model.RoleAssistant},
			{Role: model.RoleUser, Parts: []model.Part{{Kind: model.PartText, Text: "So?"}}},
		}, Tools: []model.ToolDef{{Name: "now", Description: "The <time> & zone", Schema: `{"type": "object", "properties": {"zone": {"type": "string", "description": "as <utc>"}}}`}}},
		"opaque": {Messages: []model.Message{
			user[0],
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Kind: model.PartReasoning, Text: "hm", Opaque: &model.Opaque{Provider: "openrouter", Data: `[{"type":"reasoning.encrypted","data":"abc","index":0}]`}},
				{Kind: model.PartText, Text: "Yes."},
			}},
			user[0],
		}},
		"broken_args": {Messages: []model.Message{
			user[0],
			{Role: model.RoleAssistant, Parts: []model.Part{callPart("call_a", "now", `{"x`)}},
			{Role: model.RoleTool, Parts: []model.Part{resultPart("call_a", "now", "arguments are no JSON")}},
		}, Tools: tools()[1:]},
	}
}

// wireModels are the models that the scenarios are sent to: one for each dialect.
var wireModels = map[string]string{
	"openai": "openai/gpt-5-mini", "openai_o3": "openai/o3-mini", "openai_o1": "openai/o1", "ollama": "ollama/qwen3:8b", "compat": "compat/org/qwen3",
	"mistral": "mistral/mistral-small", "deepseek": "deepseek/deepseek-chat", "deepseek4": "deepseek/deepseek-v4", "openrouter": "openrouter/x/y:free",
	"anthropic": "anthropic/claude-haiku-4-5",
	"google":    "google/gemini-3-flash-preview", "google25": "gemini/gemini-2.5-pro",
}

// TestRequestBytes compares requests byte by byte, streamed and not: paths, headers and bodies, by their digests. The
// file is from an earlier version and never rewritten. TestRequestBodies shows how a body differs.
func TestRequestBytes(t *testing.T) {
	var lines []string
	for provider, model := range wireModels {
		for name, req := range scenarios() {
			for _, stream := range []bool{false, true} {
				s := server(t, llmtest.Reply{Text: "yes"})
				e := effect(model, req)
				e.Stream = stream
				port(t, s).Do(t.Context(), e, func(engine.Token) {})
				for _, got := range s.Requests() {
					sum := sha256.New()
					fmt.Fprintln(sum, got.Path)
					for _, key := range slices.Sorted(maps.Keys(got.Header)) {
						if key != "Idempotency-Key" { // depends on the call, and is newer than the file
							fmt.Fprintln(sum, key, got.Header[key])
						}
					}
					sum.Write(got.Body)
					lines = append(lines, fmt.Sprintf("%s %s stream=%t %x\n", provider, name, stream, sum.Sum(nil)[:12]))
				}
			}
		}
	}
	frozen, err := os.ReadFile("testdata/requests/bytes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(frozen)) {
		if !slices.Contains(lines, line) {
			t.Errorf("this request is another one now: %s", line)
		}
	}
}

func TestRequestBodies(t *testing.T) {
	for provider, model := range wireModels {
		for name, req := range scenarios() {
			for _, stream := range []bool{false, true} {
				if strings.HasPrefix(provider, "openai_o") && name != "system" && name != "texts" {
					continue // these differ only in the role of the system text
				}
				if stream && name != "plain" {
					continue
				}
				file := "requests/" + provider + "_" + name
				if stream {
					file += "_stream"
				}
				t.Run(file, func(t *testing.T) {
					s := server(t, llmtest.Reply{Text: "yes"})
					e := effect(model, req)
					e.Stream = stream
					out := port(t, s).Do(t.Context(), e, func(engine.Token) {})
					got := s.Requests()
					if out.Err != nil { // a parameter that this provider cannot carry is an error, and nothing is sent
						if len(got) != 0 {
							t.Fatalf("%v after %d requests", out.Err, len(got))
						}
						golden(t, file+".json", []byte(out.Err.Error()+"\n"))
						return
					}
					if len(got) != 1 {
						t.Fatalf("%d requests", len(got))
					}
					var b bytes.Buffer
					if err := json.Indent(&b, got[0].Body, "", "  "); err != nil {
						t.Fatal(err)
					}
					b.WriteByte('\n')
					golden(t, file+".json", b.Bytes())
				})
			}
		}
	}
}

func TestOldModelsGetNoSchema(t *testing.T) {
	for m, want := range map[string]bool{
		"gpt-4": false, "gpt-4-turbo": false, "gpt-3.5-turbo": false, "gpt-4o": true, "gpt-4.1-mini": true, "o3": true, "gpt-5": true, "o1": true, "o1-mini": false,
	} {
		s := server(t, llmtest.Reply{Text: `{"ok":true,"score":1}`})
		req := prompt("x")
		req.Output = &model.Output{Type: verdict()}
		need(t, ask(port(t, s), "openai/"+m, req))
		body, err := s.Requests()[0].JSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, sent := body["response_format"]; sent != want {
			t.Errorf("%s: response_format sent is %v", m, sent)
		}
	}
}

func TestConstrained(t *testing.T) {
	for _, row := range []struct {
		model string
		typ   *generable.Type
		tools []model.ToolDef
		ok    bool
	}{
		{"openai/gpt-5", verdict(), nil, true},
		{"openai/gpt-5", loose(), nil, true},
		{"openai/gpt-4", verdict(), nil, false},
		{"openai/gpt-5", generable.ListOfType(generable.StrT), nil, true},
		{"openai/gpt-5", enormous(), nil, false},
		{"ollama/qwen3", generable.ListOfType(generable.StrT), nil, true},
		{"ollama/qwen3", verdict(), tools(), false},
		{"deepseek/deepseek-chat", verdict(), nil, false},
	} {
		s := server(t, llmtest.Reply{Text: "{}"})
		req := prompt("x")
		req.Tools = row.tools
		req.Output = &model.Output{Type: row.typ, Structured: model.StructuredConstrained}
		out := ask(port(t, s), row.model, req)
		if row.ok {
			need(t, out)
			continue
		}
		err := needErr(t, out)
		if err.Kind != engine.KindUnsupported || len(s.Requests()) != 0 {
			t.Errorf("%s %s: %v after %d requests", row.model, row.typ, err, len(s.Requests()))
		}
		hasAll(t, "message", err.Message, row.model, "constrained")
	}
}

// enormous returns a type with more fields than the provider's schemas may have.
func enormous() *generable.Type {
	t := &generable.Type{Kind: generable.RecordType, Name: "Enormous"}
	for i := range 6000 {
		t.Fields = append(t.Fields, generable.Field{Name: "f" + strconv.Itoa(i), Type: generable.IntT})
	}
	return t
}

func TestBareHeaders(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "a"}, llmtest.Reply{Text: "b"}, llmtest.Reply{Text: "c"})
	r := port(t, s)
	for i, want := range []struct{ model, path, auth string }{
		{"openai/gpt-5", "/v1/chat/completions", "Bearer sk-openai-test"},
		{"compat/m", "/v1/chat/completions", ""},
		{"ollama/m", "/api/chat", ""},
	} {
		need(t, ask(r, want.model, prompt("x")))
		got := s.Requests()[i]
		if got.Path != want.path || got.Header.Get("Authorization") != want.auth {
			t.Errorf("%s went to %s with %q", want.model, got.Path, got.Header.Get("Authorization"))
		}
		if ua := got.Header.Get("User-Agent"); ua != "agentscript" {
			t.Errorf("user agent %q", ua)
		}
	}
}

// TestRequestLikeRecorded compares a request with tools to the one that langchaingo's authors recorded with the real
// provider.
func TestRequestLikeRecorded(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tmc/langchaingo").Output()
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		t.Skip("SKIPPED: langchaingo's sources, which hold the recordings, are not on this machine:", err)
	}
	x := readTrace(t, filepath.Join(string(bytes.TrimSpace(out)), "llms/openai/testdata/TestFunctionCall.httprr"))[0]
	var want, got map[string]any
	if err := json.Unmarshal(x.request, &want); err != nil {
		t.Fatal(err)
	}
	s := server(t, llmtest.Reply{Text: "x"})
	need(t, ask(port(t, s), "openai/gpt-3.5-turbo", &model.Request{
		Messages: []model.Message{model.TextMessage(model.RoleUser, "What is the weather like in Boston?")},
		Params:   model.Params{Temperature: ptr(0.0)},
		Tools: []model.ToolDef{{
			Name: "getCurrentWeather", Description: "Get the current weather in a given location",
			Params: &generable.Type{Kind: generable.RecordType, Name: "args", Fields: []generable.Field{
				{Name: "location", Type: generable.StrT, Guide: "The city and state, e.g. San Francisco, CA"},
				{Name: "unit", Type: &generable.Type{Kind: generable.EnumType, Name: "Unit", Values: []string{"celsius", "fahrenheit"}}, Optional: true},
			}},
		}},
	}))
	if err := json.Unmarshal(s.Requests()[0].Body, &got); err != nil {
		t.Fatal(err)
	}
	// Our schemas contain more: that the object is closed, and the default.
	parameters := got["tools"].([]any)[0].(map[string]any)["function"].(map[string]any)["parameters"].(map[string]any)
	delete(parameters, "additionalProperties")
	delete(parameters["properties"].(map[string]any)["unit"].(map[string]any), "default")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
