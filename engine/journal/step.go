package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// StepOf returns the row of an effect, without its outcome.
func StepOf(id string, e *engine.Effect) (engine.Step, error) {
	key, problem := Key(e)
	if problem != nil {
		return engine.Step{}, problem
	}
	s := engine.Step{ID: id, Kind: e.Kind, Name: e.Name, Agent: e.Agent, Class: e.Class, Key: key, Types: typesOf(e)}
	var err error
	if s.Request, err = json.Marshal(e.Req); err != nil {
		return s, engine.Errorf(engine.KindStore, diag.JournalFailed, "the request of %s %q has no JSON form: %w", e.Kind, e.Name, err)
	}
	return s, nil
}

// Key identifies what an effect asks for, regardless of its position. For a model call it is derived from the
// request, for other effects from the kind, the name and the entire request.
func Key(e *engine.Effect) (string, *engine.Error) {
	req, is := e.Req.(*model.Request)
	if !is && e.Kind != engine.EffectModel {
		d := e.Req.Digest()
		sum := sha256.Sum256(append([]byte(string(e.Kind)+"\x00"+e.Name+"\x00"), d[:]...))
		return string(e.Kind) + ":" + hex.EncodeToString(sum[:16]), nil
	}
	if req == nil {
		return "", engine.Errorf(engine.KindConfig, diag.ProviderError, "a model effect of %q carries %T, not a model request", e.Agent, e.Req)
	}
	d := req.Digest()
	key := hex.EncodeToString(d[:16])
	if e.Name != "" && e.Name != req.Model { // the host chose a different model than the script
		key += "/" + e.Name
	}
	return key, nil
}

// ValueSchema is the key under which [engine.Step.Types] holds the JSON Schema of the value for which a step waits.
const ValueSchema = "schema of the value"

// typesOf returns the schemas that the answer to a request must fit, by what they describe.
func typesOf(e *engine.Effect) map[string]string {
	var value *generable.Type
	switch r := e.Req.(type) {
	case *engine.WaitRequest:
		value = r.Type
	case *engine.ApprovalRequest:
		value = r.Type
	}
	if value != nil && value.HasSchema() {
		return map[string]string{ValueSchema: value.JSONSchema()}
	}
	req, _ := e.Req.(*model.Request)
	if req == nil {
		return nil
	}
	var types map[string]string
	note := func(name, id string) {
		if types == nil {
			types = map[string]string{}
		}
		types[name] = id
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
	return types
}

// withResult adds the schema of the result to the types of a step that may need an answer from outside.
func withResult(types map[string]string, e *engine.Effect) map[string]string {
	if e.Class != engine.ClassOnce || e.Returns == nil || !e.Returns.HasSchema() {
		return types
	}
	schema := e.Returns.JSONSchema()
	if e.ByServer() == engine.EffectMCP { // a server may also answer with a text
		schema = `{"anyOf":[` + schema + `,{"type":"string"}]}`
	}
	all := map[string]string{ValueSchema: schema}
	maps.Copy(all, types)
	return all
}

// Position returns the part of an id that identifies the effect's position: everything but the digest of the request.
func Position(id string) string {
	if at := strings.LastIndexByte(id, '@'); at >= 0 {
		return id[:at]
	}
	return id
}
