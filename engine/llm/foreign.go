package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/generable"
)

// hosted makes a call of a host's own model. What the model cannot carry is an error, not
// left out in silence.
func (c *call) hosted(ctx context.Context) (*engine.Response, *engine.Error) {
	plan := c.plan(c.req, c.limits, c.keys)
	caps := c.host.caps
	if len(c.req.Tools) > 0 && !caps.Tools {
		return nil, plan.Fail(engine.KindUnsupported, nil, "register it with Caps{Tools: true} if it can, or use another model", "the model takes no tools")
	}
	opts := c.hostedOptions()
	if o := c.req.Output; o != nil && o.Type != nil && o.Type.Deref().Kind != generable.StrType {
		switch {
		case o.Structured == engine.StructuredConstrained:
			return nil, plan.Fail(engine.KindUnsupported, nil, `use structured = "auto", or another model`, "structured = \"constrained\" cannot be had: the model's interface carries no schema")
		case o.Structured != engine.StructuredGuided && caps.JSONMode && rootOf(compact(o.Type.JSONSchema())) == "object" && len(c.req.Tools) == 0:
			opts = append(opts, llms.WithJSONMode())
		}
	}
	if c.sink != nil && caps.Stream {
		p := newPieces(c.sink, c.keys, 1)
		defer p.end()
		opts = append(opts, llms.WithStreamingFunc(func(ctx context.Context, chunk []byte) error {
			if len(chunk) > 0 && !isCallChunk(chunk) {
				p.add(engine.Token{Text: string(chunk)})
			}
			return ctx.Err()
		}))
	}
	messages := c.conversation()
	if caps.OnePart {
		messages = onePart(messages)
	}
	got, err := c.host.model.GenerateContent(ctx, messages, opts...)
	if err != nil {
		return nil, foreignError(ctx, &plan, err)
	}
	if done := wire.Interrupted(ctx); done != nil {
		// Some clients report what had arrived of a cancelled stream as success.
		return nil, plan.Fail(done.Kind, done.Cause, done.Help, "%s", done.Message)
	}
	if got == nil || len(got.Choices) == 0 {
		return nil, plan.Fail(engine.KindBadResponse, nil, "try again", "the model's answer holds no choice")
	}
	return plan.Settle(foreignResponse(c.model, got))
}

// hostedOptions are the call's without the model's name: the host's model is one already.
func (c *call) hostedOptions() []llms.CallOption {
	opts := append(c.options(), func(o *llms.CallOptions) { o.Model = "" })
	if choice := c.req.Choice; len(c.req.Tools) > 0 && choice != (engine.ToolChoice{}) {
		opts = append(opts, llms.WithToolChoice((&wire.OpenAI{}).Choice(choice))) // what langchaingo's clients pass on
	}
	return opts
}

// foreignResponse gathers the text of all choices and the calls of each, as some clients give
// every content block a choice of its own. FuncCall repeats a call and is not read where
// there are calls.
func foreignResponse(model string, got *llms.ContentResponse) *engine.Response {
	r := &engine.Response{Model: model}
	var reasoning, text strings.Builder
	var calls []engine.Part
	addCall := func(id string, f *llms.FunctionCall) {
		if f != nil {
			calls = append(calls, engine.Part{Kind: engine.PartCall, Call: &engine.ToolCall{ID: id, Name: f.Name, Args: f.Arguments}})
		}
	}
	for _, ch := range got.Choices {
		if ch == nil {
			continue
		}
		text.WriteString(ch.Content)
		thoughts := ch.ReasoningContent
		if thoughts == "" {
			thoughts, _ = ch.GenerationInfo["ThinkingContent"].(string)
		}
		reasoning.WriteString(thoughts)
		for _, t := range ch.ToolCalls {
			addCall(t.ID, t.FunctionCall)
		}
		if len(ch.ToolCalls) == 0 {
			addCall("", ch.FuncCall)
		}
		if ch.StopReason != "" {
			r.RawFinish = ch.StopReason
		}
		if r.Usage == (engine.Usage{}) {
			r.Usage = foreignUsage(ch.GenerationInfo)
		}
	}
	if reasoning.Len() > 0 {
		r.Parts = append(r.Parts, engine.Part{Kind: engine.PartReasoning, Text: reasoning.String()})
	}
	if text.Len() > 0 {
		r.Parts = append(r.Parts, engine.Part{Kind: engine.PartText, Text: text.String()})
	}
	r.Parts = append(r.Parts, calls...)
	r.Finish = wire.FinishOf(r.RawFinish, len(calls) > 0)
	return r
}

// foreignUsage reads the names that langchaingo's clients give their counts. Counts that are
// none make it the zero usage, which is then estimated.
func foreignUsage(info map[string]any) engine.Usage {
	get := func(names ...string) int {
		for _, n := range names {
			switch v := info[n].(type) {
			case int:
				return bounded(float64(v))
			case int32:
				return bounded(float64(v))
			case int64:
				return bounded(float64(v))
			case float64:
				return bounded(v)
			}
		}
		return 0
	}
	u := engine.Usage{
		In:         get("PromptTokens", "input_tokens"),
		Out:        get("CompletionTokens", "OutputTokens", "output_tokens"),
		Reasoning:  get("ReasoningTokens", "CompletionReasoningTokens", "ThinkingTokens"),
		CacheRead:  get("PromptCachedTokens", "CacheReadInputTokens", "CachedTokens"),
		CacheWrite: get("CacheCreationInputTokens"),
	}
	if _, apart := info["InputTokens"]; apart {
		// The client that uses this name counts cached input beside it.
		u.In = get("InputTokens")
		if u.In >= 0 {
			u.In += max(u.CacheRead, 0) + max(u.CacheWrite, 0)
		}
	}
	u.Reasoning, u.CacheRead, u.CacheWrite = max(u.Reasoning, 0), max(u.CacheRead, 0), max(u.CacheWrite, 0)
	if !u.Plausible() {
		return engine.Usage{}
	}
	return u
}

// bounded is a count, -1 when the number cannot be one.
func bounded(n float64) int {
	if !(n >= 0 && n <= engine.MaxUsage) {
		return -1
	}
	return int(n)
}

// onePart makes every part a message of its own.
func onePart(messages []llms.MessageContent) []llms.MessageContent {
	var out []llms.MessageContent
	for _, m := range messages {
		if len(m.Parts) < 2 {
			out = append(out, m)
			continue
		}
		for _, p := range m.Parts {
			out = append(out, llms.MessageContent{Role: m.Role, Parts: []llms.ContentPart{p}})
		}
	}
	return out
}

// isCallChunk recognises tool calls that a client writes into the text callback.
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

var statusInText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`status code:? (\d{3})(?:: (.*))?`) })

// foreignError classifies what a foreign model returned: the context first, then the
// library's own codes, then a status in the text.
func foreignError(ctx context.Context, p *wire.Plan, err error) *engine.Error {
	if done := wire.Interrupted(ctx); done != nil {
		return p.Fail(done.Kind, done.Cause, done.Help, "%s", done.Message)
	}
	var own *engine.Error
	if errors.As(err, &own) {
		return own
	}
	var coded *llms.Error
	if errors.As(err, &coded) {
		e := p.Fail(foreignKind(coded.Code), err, "", "%v", err)
		switch e.Kind {
		case engine.KindRateLimit, engine.KindOverloaded, engine.KindTimeout:
			e.Model.Retryable = true
		}
		return e
	}
	if m := statusInText().FindStringSubmatch(p.Keys.String(err.Error())); m != nil {
		if status, convErr := strconv.Atoi(m[1]); convErr == nil {
			body, jsonErr := json.Marshal(map[string]string{"message": m[2]})
			if jsonErr == nil {
				e := p.Refused(status, http.Header{}, body)
				e.Cause = p.Keys.Cause(err)
				return e
			}
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return p.Fail(engine.KindTimeout, err, "", "the model gave up waiting: %v", err)
	case errors.Is(err, context.Canceled):
		return p.Fail(engine.KindCancelled, err, "", "the model was cancelled: %v", err)
	}
	return p.Fail(engine.KindServer, err, "", "the model failed: %v", err)
}

func foreignKind(code llms.ErrorCode) engine.ErrKind {
	switch code {
	case llms.ErrCodeAuthentication:
		return engine.KindAuth
	case llms.ErrCodeRateLimit:
		return engine.KindRateLimit
	case llms.ErrCodeInvalidRequest:
		return engine.KindBadRequest
	case llms.ErrCodeResourceNotFound:
		return engine.KindNotFound
	case llms.ErrCodeTimeout:
		return engine.KindTimeout
	case llms.ErrCodeCanceled:
		return engine.KindCancelled
	case llms.ErrCodeQuotaExceeded:
		return engine.KindQuota
	case llms.ErrCodeContentFilter:
		return engine.KindRefused
	case llms.ErrCodeTokenLimit:
		return engine.KindContextLength
	case llms.ErrCodeProviderUnavailable:
		return engine.KindOverloaded
	case llms.ErrCodeNotImplemented:
		return engine.KindUnsupported
	}
	return engine.KindServer
}
