package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// geminiAnswer is an answer of generateContent or a piece of a streamed one, which has the same form.
type geminiAnswer struct {
	Candidates []struct {
		Index   count `json:"index"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Finish  loose `json:"finishReason"`
		Message loose `json:"finishMessage"`
		geminiSources
	} `json:"candidates"`
	Feedback *struct {
		Blocked loose `json:"blockReason"`
		Message loose `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *geminiUsage `json:"usageMetadata"`
	Model loose        `json:"modelVersion"`
	ID    loose        `json:"responseId"`
}

// geminiState is the part of an answer that only this dialect collects.
type geminiState struct {
	heard   bool // there is an answer, even if it is empty
	blocked bool // the prompt was refused before there was an answer
}

type geminiUsage struct {
	In       count `json:"promptTokenCount"`
	ToolUse  count `json:"toolUsePromptTokenCount"`
	Cached   count `json:"cachedContentTokenCount"`
	Out      count `json:"candidatesTokenCount"`
	Thoughts count `json:"thoughtsTokenCount"`
	Total    count `json:"totalTokenCount"`
}

// geminiFinishes and geminiBlocks are the words for the numbers that some clients receive instead.
var (
	geminiFinishes = []string{
		"FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "LANGUAGE", "BLOCKLIST",
		"PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY",
	}
	geminiBlocks = []string{"BLOCK_REASON_UNSPECIFIED", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY"}
)

func named(word loose, names []string) string {
	if n, err := strconv.Atoi(string(word)); err == nil && n >= 0 && n < len(names) {
		return names[n]
	}
	return string(word)
}

// document takes one object, or the list of objects that a stream without alt=sse is.
func (d *Gemini) document(data []byte, a *answer) error {
	list := []json.RawMessage{data}
	streamed := data[0] == '['
	if streamed {
		if err := json.Unmarshal(data, &list); err != nil {
			return wrongForm("generated content", err)
		}
	}
	for _, one := range list {
		if a.failed(one) {
			return nil
		}
		if err := d.event(one, a); err != nil {
			return err
		}
	}
	switch {
	case !streamed && a.finish == "" && len(a.blocks) == 0 && !a.gemini.heard:
		return &malformed{"the answer holds no candidate"}
	case streamed && !a.ended:
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (d *Gemini) event(data []byte, a *answer) error {
	var g geminiAnswer
	if err := json.Unmarshal(data, &g); err != nil {
		return wrongForm("generated content", err)
	}
	a.identify(g.ID, g.Model)
	if u := g.Usage; u != nil && (u.In != 0 || u.Out != 0 || u.Total != 0) {
		a.usage = u.normal()
	}
	if f := g.Feedback; f != nil && f.Blocked != "" {
		a.end(named(f.Blocked, geminiBlocks))
		a.gemini.blocked = true
	}
	for i := range g.Candidates {
		c := &g.Candidates[i]
		if c.Index != 0 {
			continue // not requested
		}
		a.gemini.heard = true
		for _, raw := range c.Content.Parts {
			if err := a.geminiPart(raw); err != nil {
				return err
			}
		}
		a.geminiCites(&c.geminiSources)
		a.end(named(c.Finish, geminiFinishes))
		break
	}
	return nil
}

// normal adds the results of the provider's own tools to the input, and thoughts to the output.
func (u *geminiUsage) normal() *model.Usage {
	n := tokens(u.In, u.Out, u.Thoughts, u.Cached, 0)
	if n == nil {
		return nil
	}
	n.In += int(max(u.ToolUse, 0))
	n.Out += n.Reasoning
	if !n.Plausible() {
		return nil
	}
	return n
}

func (a *answer) geminiPart(raw json.RawMessage) error {
	var p struct {
		Text      *loose        `json:"text"`
		Thought   bool          `json:"thought"`
		Signature string        `json:"thoughtSignature"`
		Call      *geminiCalled `json:"functionCall"`
		Inline    *struct {
			MIME loose `json:"mimeType"`
			Data loose `json:"data"`
		} `json:"inlineData"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return wrongForm("part", err)
	}
	var opaque *model.Opaque
	if p.Signature != "" {
		opaque = &model.Opaque{Provider: geminiFamily, Data: p.Signature}
	}
	switch {
	case p.Call != nil:
		if p.Call.More || p.Call.Partial != nil {
			return &malformed{"the arguments of a call come in pieces, which are not read: leave out streamFunctionCallArguments"}
		}
		a.wholeCallBlock(p.Call.ID, p.Call.Name, arguments(p.Call.Args)).opaque = opaque
	case p.Text != nil:
		kind := model.PartText
		if p.Thought {
			kind = model.PartReasoning
		}
		b := a.lastBlock(kind)
		if opaque != nil && b.text.Len() > 0 {
			b = a.addBlock(kind) // signed text stays separate from unsigned text
		}
		b.opaque = opaque
		a.grow(b, string(*p.Text))
	case p.Inline != nil && p.Thought: // a draft
	case p.Inline != nil && strings.HasPrefix(string(p.Inline.MIME), "image/"):
		a.picture(string(p.Inline.MIME), string(p.Inline.Data)).opaque = opaque
	case p.Inline != nil && strings.HasPrefix(string(p.Inline.MIME), "audio/"):
		if b := a.spoken(string(p.Inline.MIME), string(p.Inline.Data)); b != nil {
			b.opaque = opaque
		}
	case p.Inline != nil: // neither
	case len(raw) > 0 && raw[0] == '{':
		// Code that the provider ran, or calls and results of its tools: the model expects them back.
		var part bytes.Buffer
		if err := json.Compact(&part, raw); err != nil {
			return err
		}
		a.addBlock(model.PartReasoning).opaque = &model.Opaque{Provider: geminiFamily, Data: part.String()}
	}
	return nil
}

// geminiCalled is a call. Its arguments arrive in pieces if a host's own request asks for that.
type geminiCalled struct {
	ID      loose           `json:"id"`
	Name    loose           `json:"name"`
	Args    json.RawMessage `json:"args"`
	Partial json.RawMessage `json:"partialArgs"`
	More    bool            `json:"willContinue"`
}
