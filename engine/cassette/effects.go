package cassette

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// otherKind is the kind of an effect, "" of a model call: rows of these do without one.
func otherKind(e *engine.Effect) engine.EffectKind {
	if _, model := e.Req.(*model.Request); model || e.Kind == engine.EffectModel {
		return ""
	}
	return e.Kind
}

// imageMark is the only key of the object that stands for a picture in a recorded value. It is doubled
// where a value itself has such an object.
const imageMark = "$image"

// valueJSON is a value as a row holds it: JSON, in which a picture stays one.
func valueJSON(v generable.Value) json.RawMessage {
	return generable.AppendJSON(nil, marked(v), nil)
}

func marked(v generable.Value) generable.Value {
	if r, ok := v.AsRecord(); ok && r.Type() == model.ImageType {
		picture := generable.NewMap(2)
		picture.Set("url", r.At(0))
		picture.Set("mime", r.At(1))
		only := generable.NewMap(1)
		only.Set(imageMark, picture.Value())
		return only.Value()
	}
	return each(v, func(key string) string { return "$" + key }, marked)
}

// valueOf reads what [valueJSON] wrote.
func valueOf(data json.RawMessage) (generable.Value, error) {
	read := lenient.Decode(generable.AnyT, string(data), generable.Options{Level: generable.Strict})
	if !read.OK {
		return generable.Value{}, read.Errors
	}
	return unmarked(read.Value), nil
}

func unmarked(v generable.Value) generable.Value {
	if m, ok := v.AsMap(); ok && m.Len() == 1 {
		key, item := m.At(0)
		if picture, ok := item.AsMap(); ok && key == imageMark {
			url, _ := picture.Get("url")
			mime, _ := picture.Get("mime")
			at, _ := url.AsStr()
			kind, _ := mime.AsStr()
			return model.ImageValue(model.Image{URL: at, MIME: kind})
		}
	}
	return each(v, func(key string) string { return key[1:] }, unmarked)
}

// each rebuilds lists, maps and records from their parts. The only key of a map that might be taken for
// that of a picture is changed.
func each(v generable.Value, rename func(string) string, part func(generable.Value) generable.Value) generable.Value {
	if m, ok := v.AsMap(); ok && m.Len() == 1 {
		if key, item := m.At(0); strings.HasPrefix(key, "$") && strings.TrimLeft(key, "$") == imageMark[1:] {
			only := generable.NewMap(1)
			only.Set(rename(key), part(item))
			return only.Value()
		}
	}
	return typing.Rebuilt(v, part)
}

// modules are the names by which scripts know kinds.
var modules = map[engine.EffectKind]string{engine.EffectExec: "sh", engine.EffectHTTP: "http", engine.EffectFS: "fs", engine.EffectEnv: "env"}

// effectRequest is what rows hold of the requests of effects other than model calls.
type effectRequest struct {
	Op       string                     `json:"op"`
	Args     map[string]json.RawMessage `json:"args"`
	Tool     string                     `json:"tool"`
	Question string                     `json:"question"`
	Data     json.RawMessage            `json:"data"`
	Server   json.RawMessage            `json:"server"`
}

func (r *entry) effectRequest() effectRequest {
	var req effectRequest
	_ = json.Unmarshal(r.Request, &req) // of another form nothing is known but its name
	return req
}

// what names the row for people: "this fs.read", "this call of agent \"critic\"".
func (r *entry) what() string {
	switch req := r.effectRequest(); {
	case r.Kind == "":
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

// effectParts splits a request other than a model's.
func (r *entry) effectParts() []part {
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
