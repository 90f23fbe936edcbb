package cassette

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/engine"
)

// modules holds the names by which scripts know kinds of effects.
var modules = map[engine.EffectKind]string{engine.EffectExec: "sh", engine.EffectHTTP: "http", engine.EffectFS: "fs", engine.EffectEnv: "env"}

// effectRequest is what rows hold of requests other than model calls.
type effectRequest struct {
	Op       string                     `json:"op"`
	Args     map[string]json.RawMessage `json:"args"`
	Tool     string                     `json:"tool"`
	Question string                     `json:"question"`
	Data     json.RawMessage            `json:"data"`
	Server   json.RawMessage            `json:"server"`
}

func (r *row) effectRequest() effectRequest {
	var req effectRequest
	_ = json.Unmarshal(r.Request, &req) // of a request in another form only the name is known
	return req
}

// what describes the row to people: "fs.read", "call of agent \"critic\"".
func (r *row) what() string {
	switch req := r.effectRequest(); {
	case r.Kind == engine.EffectModel:
		return "call of agent " + strconv.Quote(r.Agent)
	case modules[r.Kind] != "":
		return modules[r.Kind] + "." + req.Op
	case r.Kind == engine.EffectTool:
		return "call of tool " + strconv.Quote(r.Name)
	case r.Kind == engine.EffectMCP:
		return "list of the tools of MCP server " + strconv.Quote(r.Name)
	case r.Kind == engine.EffectApproval && req.Tool != "":
		return "decision about tool " + strconv.Quote(req.Tool)
	case r.Kind == engine.EffectApproval:
		return "decision about " + strconv.Quote(req.Question)
	}
	return fmt.Sprintf("%s %q", r.Kind, r.Name)
}

// effectParts splits a request that is not a model call.
func (r *row) effectParts() []part {
	req := r.effectRequest()
	parts := []part{{"what is done", r.what()}}
	for _, name := range slices.Sorted(maps.Keys(req.Args)) {
		parts = append(parts, part{"the argument " + strconv.Quote(name), plain(req.Args[name])})
	}
	if req.Data != nil {
		parts = append(parts, part{"what is decided about", plain(req.Data)})
	}
	if req.Server != nil {
		parts = append(parts, part{"the server", plain(req.Server)})
	}
	return parts
}
