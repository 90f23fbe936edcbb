package sdks

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// geminiRequest is the body of a request in the client's types.
type geminiRequest struct {
	System     *genai.Content          `json:"systemInstruction,omitempty"`
	Contents   []*genai.Content        `json:"contents"`
	Tools      []*genai.Tool           `json:"tools,omitempty"`
	ToolConfig *genai.ToolConfig       `json:"toolConfig,omitempty"`
	Config     *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

// unsigned is Google's marker for a call without a signature. It is sent verbatim, which the client's type for
// signatures cannot represent.
const unsigned = "skip_thought_signature_validator"

// TestGeminiRequests reads the recorded requests into the client's types, which must know every member, and writes them
// again: a member that the types represent differently would change.
func TestGeminiRequests(t *testing.T) {
	files, err := filepath.Glob("../../engine/llm/testdata/requests/google*.json")
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte("{")) || strings.HasSuffix(file, "_extra.json") {
			continue // an error instead of a request, or members that the caller added
		}
		data = bytes.ReplaceAll(data, []byte(unsigned), []byte(base64.StdEncoding.EncodeToString([]byte(unsigned))))
		var request geminiRequest
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&request); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		again, err := json.Marshal(request)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var want, got any
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, withoutEmpty(want)) {
			t.Errorf("%s: the client writes\n%s\nnot\n%s", filepath.Base(file), again, data)
		}
		held++
	}
	if held < 30 {
		t.Errorf("only %d requests are held", held)
	}
}

// withoutEmpty removes the empty members that the client's types omit: the arguments of a call without arguments, and
// the text of a part that has only a signature.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if args, ok := value.(map[string]any); ok && key == "args" && len(args) == 0 || key == "text" && value == "" {
				delete(v, key)
				continue
			}
			v[key] = withoutEmpty(value)
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
	}
	return v
}

func geminiClient(t *testing.T, s *llmtest.Server) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func geminiPort(s *llmtest.Server) *llm.Registry {
	return llm.New(llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { return key, name == "GEMINI_API_KEY" })), llm.WithBaseURL("google", s.URL))
}

// TestGeminiRequestLikeTheClients makes one call that uses the whole interface, with the provider's client and with
// this module: both must send the same request.
func TestGeminiRequestLikeTheClients(t *testing.T) {
	s := llmtest.New(llmtest.Reply{Text: `{"ok":true}`, Repeat: true})
	defer s.Close()
	schema := map[string]any{
		"type": "object", "properties": map[string]any{"ok": map[string]any{"type": "boolean"}}, "required": []any{"ok"},
		"additionalProperties": false,
	}
	paths := map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}, "required": []any{"path"}, "additionalProperties": false}
	signature := []byte("signed")
	_, err := geminiClient(t, s).Models.GenerateContent(t.Context(), "gemini-3-flash-preview", []*genai.Content{
		{Role: "user", Parts: []*genai.Part{{Text: "Look."}, {InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("png")}}, {FileData: &genai.FileData{FileURI: "https://example.com/a.webp", MIMEType: "image/webp"}}}},
		{Role: "model", Parts: []*genai.Part{
			{Text: "Looking."},
			{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "compile", Args: map[string]any{"path": "a"}}, ThoughtSignature: signature},
			{FunctionCall: &genai.FunctionCall{ID: "c2", Name: "compile", Args: map[string]any{"path": "b"}}},
		}},
		{Role: "user", Parts: []*genai.Part{
			{FunctionResponse: &genai.FunctionResponse{ID: "c1", Name: "compile", Response: map[string]any{"output": "fine"}}},
			{FunctionResponse: &genai.FunctionResponse{ID: "c2", Name: "compile", Response: map[string]any{"error": map[string]any{"line": 3.0}}}},
		}},
	}, &genai.GenerateContentConfig{
		SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: "Be brief."}}},
		Temperature:       genai.Ptr[float32](0.5), TopP: genai.Ptr[float32](0.25), MaxOutputTokens: 100, Seed: genai.Ptr[int32](7), StopSequences: []string{"END"},
		ResponseMIMEType: "application/json", ResponseJsonSchema: schema,
		ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true, ThinkingLevel: genai.ThinkingLevelLow},
		Tools:          []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "compile", Description: "Compiles", ParametersJsonSchema: paths}}}},
		ToolConfig:     &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{"compile"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	temperature, topP, limit, seed := 0.5, 0.25, 100, 7
	part := func(id, path, signature string) model.Part {
		p := model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: id, Name: "compile", Args: `{"path":"` + path + `"}`}}
		if signature != "" {
			p.Opaque = &model.Opaque{Provider: "google", Data: signature}
		}
		return p
	}
	r := geminiPort(s)
	defer r.Close()
	out := r.Do(t.Context(), &engine.Effect{Kind: engine.EffectModel, Name: "gemini/gemini-3-flash-preview", Req: &model.Request{
		System: "Be brief.",
		Messages: []model.Message{
			{Role: model.RoleUser, Parts: []model.Part{
				{Kind: model.PartText, Text: "Look."},
				{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64,cG5n"}}, {Kind: model.PartImage, Image: &model.Image{URL: "https://example.com/a.webp"}},
			}},
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Kind: model.PartReasoning, Text: "hm"}, {Kind: model.PartText, Text: "Looking."},
				part("c1", "a", base64.StdEncoding.EncodeToString(signature)), part("c2", "b", ""),
			}},
			{Role: model.RoleTool, Parts: []model.Part{{Kind: model.PartResult, Result: &model.ToolResult{CallID: "c1", Name: "compile", Text: "fine"}}}},
			{Role: model.RoleTool, Parts: []model.Part{{Kind: model.PartResult, Result: &model.ToolResult{CallID: "c2", Name: "compile", Text: `{"line": 3}`, IsError: true}}}},
		},
		Tools:  []model.ToolDef{{Name: "compile", Description: "Compiles", Params: &generable.Type{Kind: generable.RecordType, Name: "compile", Fields: []generable.Field{{Name: "path", Type: generable.StrT}}}}},
		Choice: model.ToolChoice{Mode: model.ChoiceTool, Tool: "compile"},
		Output: &model.Output{Type: &generable.Type{Kind: generable.RecordType, Name: "V", Fields: []generable.Field{{Name: "ok", Type: generable.BoolT}}}},
		Params: model.Params{Temperature: &temperature, TopP: &topP, MaxTokens: &limit, Seed: &seed, Stop: []string{"END"}, Effort: "low"},
	}}, nil)
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	sent := s.Requests()
	var want, got map[string]any
	if err := json.Unmarshal(sent[0].Body, &want); err != nil {
		t.Fatal(err)
	}
	delete(want["systemInstruction"].(map[string]any), "role") // the client says "user" where it is given none
	if err := json.Unmarshal(sent[1].Body, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) || sent[0].Path != sent[1].Path {
		t.Errorf("sent to %s\n%s\nthe client sends to %s\n%s", sent[1].Path, sent[1].Body, sent[0].Path, sent[0].Body)
	}
	for _, r := range sent {
		if r.Header.Get("X-Goog-Api-Key") != key || r.Header.Get("Authorization") != "" {
			t.Errorf("the key is sent as %v", r.Header)
		}
	}
}

// TestGeminiAnswers checks that the client and this module read the same answers alike, whole and streamed.
func TestGeminiAnswers(t *testing.T) {
	for name, reply := range map[string]llmtest.Reply{
		"text":     {Text: "one two \"three\" <b>", In: 12, Out: 5},
		"thoughts": {Reasoning: "let me see", Signature: "c2ln", Text: "yes", In: 3, Out: 4},
		"calls":    {Text: "Looking.", In: 5, Out: 9, Calls: []llmtest.Call{{ID: "c1", Name: "compile", Args: `{"n":[1,2],"path":"a.go"}`}, {Name: "now", Args: "{}"}}},
		"cut":      {Text: "par", Finish: "MAX_TOKENS", In: 1, Out: 1},
	} {
		t.Run(name, func(t *testing.T) {
			reply.Repeat = true
			s := llmtest.New(reply)
			defer s.Close()
			models := geminiClient(t, s).Models
			whole, err := models.GenerateContent(t.Context(), "gemini-2.5-flash", genai.Text("x"), nil)
			if err != nil {
				t.Fatal(err)
			}
			byClient := map[string]read{"whole": geminiRead(whole), "streamed": {}}
			var streamed read
			for piece, err := range models.GenerateContentStream(t.Context(), "gemini-2.5-flash", genai.Text("x"), nil) {
				if err != nil {
					t.Fatal(err)
				}
				p := geminiRead(piece)
				streamed.text, streamed.thoughts, streamed.signature = streamed.text+p.text, streamed.thoughts+p.thoughts, streamed.signature+p.signature
				streamed.calls, streamed.finish, streamed.in, streamed.out = append(streamed.calls, p.calls...), p.finish, p.in, p.out
			}
			byClient["streamed"] = streamed
			r := geminiPort(s)
			defer r.Close()
			for kind, want := range byClient {
				got := geminiAsk(t, r, kind == "streamed")
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %+v\nthe client reads %+v", kind, got, want)
				}
			}
		})
	}
}

func geminiAsk(t *testing.T, r *llm.Registry, stream bool) read {
	out := r.Do(context.Background(), &engine.Effect{Kind: engine.EffectModel, Name: "google/gemini-2.5-flash", Stream: stream, Req: &model.Request{
		Messages: []model.Message{model.TextMessage(model.RoleUser, "x")},
	}}, func(engine.Token) {})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	m := read{text: out.Response.Text(), finish: out.Response.RawFinish, in: out.Usage.In, out: out.Usage.Out}
	for _, p := range out.Response.Parts {
		if p.Kind == model.PartReasoning {
			m.thoughts += p.Text
		}
		if p.Opaque != nil {
			m.signature += p.Opaque.Data
		}
		if c := p.Call; c != nil {
			id := c.ID
			if strings.HasPrefix(id, "call_") { // this module made it because the answer had none
				id = ""
			}
			m.calls = append(m.calls, [3]string{id, c.Name, c.Args})
		}
	}
	return m
}

func geminiRead(r *genai.GenerateContentResponse) read {
	m := read{finish: string(r.Candidates[0].FinishReason), in: int(r.UsageMetadata.PromptTokenCount), out: int(r.UsageMetadata.CandidatesTokenCount + r.UsageMetadata.ThoughtsTokenCount)}
	for _, p := range r.Candidates[0].Content.Parts {
		switch {
		case p.FunctionCall != nil:
			args, err := json.Marshal(p.FunctionCall.Args)
			if err != nil || p.FunctionCall.Args == nil {
				args = []byte("{}")
			}
			m.calls = append(m.calls, [3]string{p.FunctionCall.ID, p.FunctionCall.Name, string(args)})
		case p.Thought:
			m.thoughts += p.Text
		default:
			m.text += p.Text
		}
		m.signature += base64.StdEncoding.EncodeToString(p.ThoughtSignature)
	}
	return m
}
