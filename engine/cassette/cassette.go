// Package cassette records the results of effects and answers effects from a record, so that a run can be
// replayed without a model, a tool or a grant. A [Recorder] wraps the handlers of a run and writes a line of
// JSON for each effect; a [Replayer] takes their place. A [Cache] keeps the answers of models alone, in a
// directory, and asks for those that it does not have.
package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// version is that of the rows' form.
const version = 1

// entry is one recorded effect: a model call, or another one, which names its kind. The key is a
// hash of all that decides an answer, of a model call model, messages, tools, output type and
// parameters. The request is there for people, and for saying in what a call that was not recorded
// differs.
type entry struct {
	Version  int               `json:"v"`
	Kind     engine.EffectKind `json:"kind,omitempty"` // "" of a model call
	Name     string            `json:"name,omitempty"` // of any other
	Key      string            `json:"key"`
	N        int               `json:"n"` // the how-manieth call of that key, from 1
	Agent    string            `json:"agent,omitempty"`
	Path     string            `json:"path,omitempty"`
	Request  json.RawMessage   `json:"request"`
	Types    map[string]string `json:"types,omitempty"`    // hashes of the output type and the tools' parameters
	Response *model.Response   `json:"response,omitempty"` // of a model
	Value    json.RawMessage   `json:"value,omitempty"`    // of anything else
	Error    *engine.Error     `json:"error,omitempty"`
	Usage    model.Usage       `json:"usage"`
	Attempt  int               `json:"attempt"`

	value generable.Value // that Value holds
	line  int
	used  bool
}

// entryKey is the key of an effect: of a model call what its request says, else its kind, its name and all
// of its request.
func entryKey(e *engine.Effect) (string, *engine.Error) {
	if otherKind(e) != "" {
		d := e.Req.Digest()
		sum := sha256.Sum256(append([]byte(string(e.Kind)+"\x00"+e.Name+"\x00"), d[:]...))
		return string(e.Kind) + ":" + hex.EncodeToString(sum[:16]), nil
	}
	req, problem := modelRequest(e)
	if problem != nil {
		return "", problem
	}
	d := req.Digest()
	key := hex.EncodeToString(d[:16])
	if e.Name != "" && e.Name != req.Model { // the host named another model than the script
		key += "/" + e.Name
	}
	return key, nil
}

// newEntry is the row of an effect, without what came of it.
func newEntry(e *engine.Effect) (*entry, error) {
	key, problem := entryKey(e)
	if problem != nil {
		return nil, problem
	}
	request, err := json.Marshal(e.Req)
	if err != nil {
		return nil, err
	}
	row := &entry{Version: version, Key: key, Kind: otherKind(e), N: 1, Agent: e.Agent, Path: e.At.Path(), Request: request}
	req, model := e.Req.(*model.Request)
	if !model {
		row.Name = e.Name
		return row, nil
	}
	note := func(name, id string) {
		if row.Types == nil {
			row.Types = map[string]string{}
		}
		row.Types[name] = id
	}
	if req.Output != nil && req.Output.Type != nil {
		note("output", req.Output.Type.ID())
	}
	for _, tool := range req.Tools {
		if tool.Params != nil {
			note("tool "+tool.Name, tool.Params.ID())
		}
		if tool.Schema != "" {
			note("schema of tool "+tool.Name, tool.Schema)
		}
	}
	return row, nil
}

// line encodes the row as one line, without what redact takes out.
func (r *entry) encode(redact func(string) string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	if redact == nil {
		return b.Bytes(), nil
	}
	return []byte(redact(b.String())), nil
}

// keep keeps the effect's outcome.
func (r *entry) keep(out engine.Outcome) {
	r.Response, r.Error, r.Usage, r.Attempt = out.Response, out.Err, out.Usage, out.Attempt
	if r.Kind != "" && out.Err == nil {
		r.Value = valueJSON(out.Value)
	}
}

// outcome is what came of the effect.
func (r *entry) outcome() engine.Outcome {
	return engine.Outcome{Response: r.Response, Value: r.value, Err: r.Error, Usage: r.Usage, Attempt: r.Attempt}
}

// decodeEntry reads a row, and says what is wrong with a line that is not one.
func decodeEntry(data []byte) (*entry, error) {
	r := &entry{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("it is no recorded call: %w", err)
	}
	switch {
	case r.Version != version:
		return nil, fmt.Errorf("it is of version %d, and version %d is known", r.Version, version)
	case r.Key == "" || (r.Response == nil && r.Value == nil) == (r.Error == nil):
		return nil, fmt.Errorf("it lacks the key, or holds not one of response and error")
	case r.Kind == "" && r.Value != nil || r.Kind != "" && r.Response != nil:
		return nil, fmt.Errorf("model calls have a response, and all else has a value")
	}
	out := r.outcome()
	if flaw := out.Flaw(nil); flaw != "" {
		return nil, fmt.Errorf("it has %s", flaw)
	}
	if r.Value != nil {
		var err error
		if r.value, err = valueOf(r.Value); err != nil {
			return nil, fmt.Errorf("its value cannot be read: %w", err)
		}
	}
	return r, nil
}

// modelRequest is the request of a model effect.
func modelRequest(e *engine.Effect) (*model.Request, *engine.Error) {
	req, ok := e.Req.(*model.Request)
	if !ok || req == nil {
		return nil, engine.Errorf(engine.KindConfig, diag.ProviderError, "a model effect of %q carries %T, not a model request", e.Agent, e.Req)
	}
	return req, nil
}

// replay hands out an answer as if it were given now.
func replay(e *engine.Effect, sink engine.Sink, out engine.Outcome) engine.Outcome {
	if e.Stream && sink != nil && out.Response != nil {
		for seq, word := range text.Words(out.Response.Text()) {
			sink(engine.Token{Attempt: max(out.Attempt, 1), Seq: seq, Text: word})
		}
	}
	return out
}
