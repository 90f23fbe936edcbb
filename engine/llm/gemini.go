package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript/engine/llm/internal/wire"
)

// googleNames are other names of the provider google.
var googleNames = []string{"googleai", "gemini"}

func googleRow() *provider {
	return &provider{
		name: "google", aliases: googleNames, schemas: "gemini", keyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		baseEnv: []string{"GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"}, base: "https://generativelanguage.googleapis.com/v1beta",
		fix: geminiURL, dialect: &wire.Gemini{}, writes: true, caps: compatCaps, bare: bareGemini, strictTools: func(string) bool { return true }, build: buildGemini,
	}
}

var versioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/v\d[a-z0-9]*$`) })

// geminiURL adds the version of the interface to an address without one: Google's own tools
// take it so from the same variables.
func geminiURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if !versioned().MatchString(u.Path) {
		u.Path += "/v1beta"
	}
	return u.String(), nil
}

// bareGemini are models that take no schema and no JSON mode: those that are no Gemini, and
// those that draw or speak.
func bareGemini(model string) bool {
	v := wire.GeminiVersion(model)
	if v == 0 {
		return !strings.Contains(model, "tunedModels/")
	}
	return v < 2 || strings.Contains(model, "-tts") || strings.Contains(model, "-image") && v < 3
}

// gemini is the client of Google's generateContent. What it sends is written below it, where the
// call's plan is known: without one it makes no call.
type gemini struct{ c connection }

var _ llms.Model = (*gemini)(nil)

func buildGemini(c connection) (llms.Model, error) { return &gemini{c}, nil }

// Call implements [llms.Model].
func (g *gemini) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, g, prompt, opts...)
}

// GenerateContent implements [llms.Model].
func (g *gemini) GenerateContent(ctx context.Context, _ []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	if !wire.Planned(ctx) {
		return nil, fmt.Errorf("a call of this client needs a plan")
	}
	var o llms.CallOptions
	for _, opt := range opts {
		opt(&o)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.c.base+"/"+geminiPath(o.Model)+":generateContent", strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := g.c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	return geminiChoice(data)
}

// geminiPath names a model in an address. Tuned models have a collection of their own.
func geminiPath(model string) string {
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	parts := strings.Split(model, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// geminiChoice reads the plain answer that the transport hands up.
func geminiChoice(data []byte) (*llms.ContentResponse, error) {
	var answer struct {
		Candidates []struct {
			Content struct {
				Parts []struct {
					Text    string `json:"text"`
					Thought bool   `json:"thought"`
					Call    *struct {
						ID   string          `json:"id"`
						Name string          `json:"name"`
						Args json.RawMessage `json:"args"`
					} `json:"functionCall"`
				} `json:"parts"`
			} `json:"content"`
			Finish string `json:"finishReason"`
		} `json:"candidates"`
		Usage struct {
			In       int `json:"promptTokenCount"`
			Out      int `json:"candidatesTokenCount"`
			Thoughts int `json:"thoughtsTokenCount"`
			Total    int `json:"totalTokenCount"`
		} `json:"usageMetadata"`
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&answer); err != nil {
		return nil, err
	}
	out := &llms.ContentResponse{}
	for _, c := range answer.Candidates {
		choice := &llms.ContentChoice{StopReason: c.Finish, GenerationInfo: map[string]any{
			"PromptTokens": answer.Usage.In, "CompletionTokens": answer.Usage.Out + answer.Usage.Thoughts,
			"ReasoningTokens": answer.Usage.Thoughts, "TotalTokens": answer.Usage.Total,
		}}
		for _, p := range c.Content.Parts {
			switch {
			case p.Call != nil:
				choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{
					ID: p.Call.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: p.Call.Name, Arguments: string(p.Call.Args)},
				})
			case p.Thought:
				choice.ReasoningContent += p.Text
			default:
				choice.Content += p.Text
			}
		}
		out.Choices = append(out.Choices, choice)
	}
	return out, nil
}
