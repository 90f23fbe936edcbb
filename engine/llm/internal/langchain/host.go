package langchain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/tmc/langchaingo/llms"
)

// Call is a call of a host's own model.
type Call struct {
	Request *model.Request
	JSON    bool              // constrain the answer to some JSON object
	MaxOut  int               // limit of the answer set by budgets; 0: the request's own
	OnePart bool              // the model only reads the first part of a message
	Keys    *redact.Set       // removed from schemas
	Text    func(text string) // receives the pieces of the answer as they arrive; nil if nobody listens
}

// Generate makes the call. The error is that of the model.
func (c *Call) Generate(ctx context.Context, m llms.Model) (*model.Response, error) {
	opts := c.options()
	if c.Text != nil {
		opts = append(opts, llms.WithStreamingFunc(func(ctx context.Context, chunk []byte) error {
			if len(chunk) > 0 && !isCallChunk(chunk) {
				c.Text(string(chunk))
			}
			return ctx.Err()
		}))
	}
	messages := conversation(c.Request)
	if c.OnePart {
		messages = onePart(messages)
	}
	got, err := m.GenerateContent(ctx, messages, opts...)
	if err != nil || got == nil || len(got.Choices) == 0 {
		return nil, err
	}
	return response(got), nil
}

// conversation converts the request, without its reasoning, which langchaingo's messages cannot carry.
func conversation(r *model.Request) []llms.MessageContent {
	var out []llms.MessageContent
	add := func(role llms.ChatMessageType, parts ...llms.ContentPart) {
		out = append(out, llms.MessageContent{Role: role, Parts: parts})
	}
	if r.System != "" {
		add(llms.ChatMessageTypeSystem, llms.TextContent{Text: r.System})
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		switch m.Role {
		case model.RoleTool:
			for j := range m.Parts {
				if r := m.Parts[j].Result; r != nil {
					add(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: r.CallID, Name: r.Name, Content: r.Text})
				}
			}
		case model.RoleAssistant:
			var parts []llms.ContentPart
			if text := wire.Joined(m.Parts, model.PartText, ""); text != "" {
				parts = append(parts, llms.TextContent{Text: text})
			}
			for j := range m.Parts {
				if t := m.Parts[j].Call; t != nil {
					parts = append(parts, llms.ToolCall{ID: t.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: t.Name, Arguments: t.Args}})
				}
			}
			add(llms.ChatMessageTypeAI, parts...)
		default:
			add(llms.ChatMessageTypeHuman, said(m.Parts)...)
		}
	}
	return out
}

// said converts a user's message: its texts and pictures in order.
func said(parts []model.Part) []llms.ContentPart {
	var out []llms.ContentPart
	for _, p := range wire.InOrder(parts) {
		if p.Image != nil {
			out = append(out, llms.ImageURLContent{URL: p.Image.URL})
			continue
		}
		out = append(out, llms.TextContent{Text: p.Text})
	}
	if len(out) == 0 {
		return []llms.ContentPart{llms.TextContent{}}
	}
	return out
}

// options converts the parameters, without a model's name: the host's model is fixed.
func (c *Call) options() []llms.CallOption {
	p := &c.Request.Params
	var opts []llms.CallOption
	if p.Temperature != nil {
		opts = append(opts, llms.WithTemperature(*p.Temperature))
	}
	if p.TopP != nil {
		opts = append(opts, llms.WithTopP(*p.TopP))
	}
	switch {
	case c.MaxOut > 0 && (p.MaxTokens == nil || c.MaxOut < *p.MaxTokens):
		opts = append(opts, llms.WithMaxTokens(c.MaxOut))
	case p.MaxTokens != nil:
		opts = append(opts, llms.WithMaxTokens(*p.MaxTokens))
	}
	if p.Seed != nil {
		opts = append(opts, llms.WithSeed(*p.Seed))
	}
	if len(p.Stop) > 0 {
		opts = append(opts, llms.WithStopWords(p.Stop))
	}
	if c.JSON {
		opts = append(opts, llms.WithJSONMode())
	}
	if len(c.Request.Tools) == 0 {
		return opts
	}
	tools := make([]llms.Tool, len(c.Request.Tools))
	for i := range c.Request.Tools {
		t := &c.Request.Tools[i]
		tools[i] = llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: c.Keys.String(t.Name), Description: t.Description, Parameters: c.Keys.JSON(wire.ToolSchema(t))}}
	}
	opts = append(opts, llms.WithTools(tools))
	if choice := c.Request.Choice; choice != (model.ToolChoice{}) {
		opts = append(opts, llms.WithToolChoice((&wire.OpenAI{}).Choice(choice))) // in the form that langchaingo's clients pass on
	}
	return opts
}

// response collects the text of all choices and the calls of each, as some clients put every content block into a
// separate choice. FuncCall repeats a call and is only read if there are no calls.
func response(got *llms.ContentResponse) *model.Response {
	r := &model.Response{}
	var reasoning, text strings.Builder
	var calls []model.Part
	addCall := func(id string, f *llms.FunctionCall) {
		if f != nil {
			calls = append(calls, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: id, Name: f.Name, Args: f.Arguments}})
		}
	}
	for _, ch := range got.Choices {
		if ch == nil {
			continue
		}
		text.WriteString(ch.Content)
		thoughts, _ := ch.GenerationInfo["ThinkingContent"].(string)
		reasoning.WriteString(cmp.Or(ch.ReasoningContent, thoughts))
		for _, t := range ch.ToolCalls {
			addCall(t.ID, t.FunctionCall)
		}
		if len(ch.ToolCalls) == 0 {
			addCall("", ch.FuncCall)
		}
		if ch.StopReason != "" {
			r.RawFinish = ch.StopReason
		}
		if r.Usage == (model.Usage{}) {
			r.Usage = usage(ch.GenerationInfo)
		}
	}
	if reasoning.Len() > 0 {
		r.Parts = append(r.Parts, model.Part{Kind: model.PartReasoning, Text: reasoning.String()})
	}
	if text.Len() > 0 {
		r.Parts = append(r.Parts, model.Part{Kind: model.PartText, Text: text.String()})
	}
	r.Parts = append(r.Parts, calls...)
	r.Finish = wire.FinishOf(r.RawFinish, len(calls) > 0)
	return r
}

// usage reads the counts under the names that langchaingo's clients use. With invalid counts it returns the zero usage,
// which is then estimated.
func usage(info map[string]any) model.Usage {
	get := func(names ...string) int {
		for _, n := range names {
			if v, err := strconv.ParseFloat(fmt.Sprint(info[n]), 64); err == nil { // an int, int32, int64 or float64
				if !(v >= 0 && v <= model.MaxUsage) {
					return -1 // not a count
				}
				return int(v)
			}
		}
		return 0
	}
	u := model.Usage{
		In:         get("PromptTokens", "input_tokens"),
		Out:        get("CompletionTokens", "OutputTokens", "output_tokens"),
		Reasoning:  get("ReasoningTokens", "CompletionReasoningTokens", "ThinkingTokens"),
		CacheRead:  get("PromptCachedTokens", "CacheReadInputTokens", "CachedTokens"),
		CacheWrite: get("CacheCreationInputTokens"),
	}
	if _, apart := info["InputTokens"]; apart {
		// The client that uses this name reports cached input separately.
		u.In = get("InputTokens")
		if u.In >= 0 {
			u.In += max(u.CacheRead, 0) + max(u.CacheWrite, 0)
		}
	}
	u.Reasoning, u.CacheRead, u.CacheWrite = max(u.Reasoning, 0), max(u.CacheRead, 0), max(u.CacheWrite, 0)
	if !u.Plausible() {
		return model.Usage{}
	}
	return u
}

// onePart puts every part into a separate message.
func onePart(messages []llms.MessageContent) []llms.MessageContent {
	var out []llms.MessageContent
	for _, m := range messages {
		if len(m.Parts) == 0 {
			out = append(out, m)
		}
		for _, p := range m.Parts {
			out = append(out, llms.MessageContent{Role: m.Role, Parts: []llms.ContentPart{p}})
		}
	}
	return out
}

// isCallChunk recognizes tool calls that a client writes to the text callback.
func isCallChunk(chunk []byte) bool {
	if chunk[0] != '[' {
		return false
	}
	var calls []struct {
		Function *struct {
			Args *string `json:"arguments"`
		} `json:"function"`
	}
	return json.Unmarshal(chunk, &calls) == nil && len(calls) > 0 && calls[0].Function != nil
}

var statusInText = lazy.Regexp(`status code:? (\d{3})(?:: (.*))?`)

// Error classifies the error of a host's model: by the context first, then by langchaingo's codes, then by a status in
// the text.
func Error(ctx context.Context, p *wire.Plan, err error) *engine.Error {
	if done := p.Interrupted(ctx); done != nil {
		return done
	}
	var own *engine.Error
	if errors.As(err, &own) {
		return own
	}
	var coded *llms.Error
	if errors.As(err, &coded) {
		e := p.Fail(cmp.Or(kinds[coded.Code], engine.KindServer), err, "", "%v", err)
		switch e.Kind {
		case engine.KindRateLimit, engine.KindOverloaded, engine.KindTimeout:
			e.Model.Retryable = true
		}
		return e
	}
	if m := statusInText().FindStringSubmatch(p.Keys.String(err.Error())); m != nil {
		status, _ := strconv.Atoi(m[1])                             // three digits
		body, _ := json.Marshal(map[string]string{"message": m[2]}) // a text
		e := p.Refused(status, http.Header{}, body)
		e.Cause = p.Keys.Cause(err)
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return p.Fail(engine.KindTimeout, err, "", "the model gave up waiting: %v", err)
	case errors.Is(err, context.Canceled):
		return p.Fail(engine.KindCancelled, err, "", "the model was cancelled: %v", err)
	}
	return p.Fail(engine.KindServer, err, "", "the model failed: %v", err)
}

// kinds maps langchaingo's codes to kinds. Any other code is a failure of the server.
var kinds = map[llms.ErrorCode]engine.ErrKind{
	llms.ErrCodeAuthentication:      engine.KindAuth,
	llms.ErrCodeRateLimit:           engine.KindRateLimit,
	llms.ErrCodeInvalidRequest:      engine.KindBadRequest,
	llms.ErrCodeResourceNotFound:    engine.KindNotFound,
	llms.ErrCodeTimeout:             engine.KindTimeout,
	llms.ErrCodeCanceled:            engine.KindCancelled,
	llms.ErrCodeQuotaExceeded:       engine.KindQuota,
	llms.ErrCodeContentFilter:       engine.KindRefused,
	llms.ErrCodeTokenLimit:          engine.KindContextLength,
	llms.ErrCodeProviderUnavailable: engine.KindOverloaded,
	llms.ErrCodeNotImplemented:      engine.KindUnsupported,
}
