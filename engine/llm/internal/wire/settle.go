package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// Settle judges a complete answer. An unusable one becomes an error, so that no call fails silently. Keys are removed,
// calls get ids and arguments, and missing usage is estimated.
func (p *Plan) Settle(r *model.Response) (*model.Response, *engine.Error) {
	if r.Usage.In == 0 && r.Usage.Out == 0 {
		r.Usage = model.EstimateUsage(p.Request, r)
	}
	p.Keys.Response(r)
	f := p.judge(r)
	if f = cmp.Or(f, p.cutPrompt(r.Usage)); f != nil {
		f.usage, f.requestID, f.raw = r.Usage, r.RequestID, r.Text()
		return nil, p.error(f)
	}
	p.tidyCalls(r)
	return r, nil
}

func (p *Plan) judge(r *model.Response) *failure {
	switch r.Finish {
	case model.FinishFilter:
		return &failure{kind: engine.KindRefused, what: "the provider's content filter stopped the answer", code: r.RawFinish}
	case model.FinishRefusal:
		return &failure{kind: engine.KindRefused, what: "the model refuses to answer", says: quote(p.Keys.String(strings.TrimSpace(r.Text() + " " + p.refusal)))}
	case model.FinishUnknown:
		if r.RawFinish == unfinished {
			return &failure{kind: engine.KindTruncated, what: "the server abandoned the answer without saying why", retryable: true, help: "try again; a model that repeats itself may be stopped by its server"}
		}
		if r.RawFinish == paused {
			return &failure{kind: engine.KindTruncated, what: fmt.Sprintf("the provider paused the answer more than %d times to continue with its own tools", mostPauses), code: r.RawFinish, help: "let it use fewer of its own tools"}
		}
	}
	calls := r.Calls()
	if len(calls) == 0 && brokenCall[r.RawFinish] {
		return &failure{kind: engine.KindBadResponse, what: "the model wrote a call of a tool that its provider could not read", code: r.RawFinish, retryable: true, help: "try again, or use another model"}
	}
	for _, c := range calls {
		if c.Name == "" {
			return &failure{kind: engine.KindBadResponse, what: "the answer calls a tool without naming it", retryable: true, help: "try again, or use another model"}
		}
		if r.Finish == model.FinishLength && c.Args != "" && !json.Valid([]byte(c.Args)) {
			return p.cutOff(&failure{kind: engine.KindTruncated, what: "the token limit cut off the arguments of a call of " + quote(c.Name), help: "raise max_tokens"})
		}
	}
	if len(calls) == 0 && r.Finish == model.FinishCalls {
		return &failure{kind: engine.KindBadResponse, what: "the answer says that it calls tools, and holds no call", code: r.RawFinish, retryable: true, help: "try again, or use another model"}
	}
	if len(calls) > 0 || r.Text() != "" || len(r.Pictures()) > 0 || len(r.Sounds()) > 0 || r.Finish == model.FinishStop && p.Request.Choice.Mode == model.ChoiceNone {
		return nil // a model that may not call tools any more may have said everything before
	}
	if r.Finish == model.FinishLength {
		return p.cutOff(&failure{kind: engine.KindTruncated, what: "the token limit was used up before the answer began", help: "raise max_tokens"})
	}
	return &failure{kind: engine.KindBadResponse, what: "the answer is empty", code: r.RawFinish, retryable: true, help: "try again; if it stays so, the prompt leaves the model nothing to say"}
}

// brokenCall are the finish reasons of an answer that ends in an invalid call.
var brokenCall = map[string]bool{"MALFORMED_FUNCTION_CALL": true, "UNEXPECTED_TOOL_CALL": true, "malformed_tool_use": true}

// tidyCalls gives every call an id that is unique in the conversation, since results are matched to calls by it, and at
// least an empty object as arguments.
func (p *Plan) tidyCalls(r *model.Response) {
	calls := r.Calls()
	if len(calls) == 0 {
		return
	}
	taken := map[string]bool{}
	for i := range p.Request.Messages {
		for j := range p.Request.Messages[i].Parts {
			if c := p.Request.Messages[i].Parts[j].Call; c != nil {
				taken[c.ID] = true
			}
		}
	}
	for i, c := range calls {
		for n := 0; c.ID == "" || taken[c.ID]; n++ {
			c.ID = fmt.Sprintf("call_%d_%d", len(p.Request.Messages), i+n*len(calls))
		}
		taken[c.ID] = true
		if c.Args == "" || c.Args == "null" {
			c.Args = "{}"
		}
	}
}

// ToolSchema returns a tool's parameters as a JSON Schema of an object, verbatim if the tool has its own schema.
// Without parameters it is that of an empty object.
func ToolSchema(t *model.ToolDef) json.RawMessage {
	switch {
	case t.Schema != "":
		return json.RawMessage(t.Schema)
	case t.Params == nil:
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return json.RawMessage(t.Params.JSONSchema())
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// shortID derives nine letters and digits from an id, the same in every request.
func shortID(id string) string {
	sum := sha256.Sum256([]byte(id))
	out := make([]byte, 9)
	for i := range out {
		out[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(out)
}

func isAlnum(s string) bool {
	for _, r := range s {
		if !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return false
		}
	}
	return true
}
