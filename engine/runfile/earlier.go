package runfile

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// earlier is the version of the previous format: a line for each effect, with its position instead of its id, and one
// for what a session held.
const earlier = 1

// earlierRow is a line of the previous format.
type earlierRow struct {
	Kind     engine.EffectKind `json:"kind"` // "" for a model call
	Name     string            `json:"name"` // for any other effect
	Key      string            `json:"key"`
	Agent    string            `json:"agent"`
	Path     string            `json:"path"`
	Request  json.RawMessage   `json:"request"`
	Types    map[string]string `json:"types"`
	Response *model.Response   `json:"response"` // of a model call
	Value    json.RawMessage   `json:"value"`    // of any other effect; imageMark describes the form of pictures
	Error    *engine.Error     `json:"error"`
	Usage    model.Usage       `json:"usage"`
	Attempt  int               `json:"attempt"`
}

// earlierSession is the kind of the line that holds a session.
const earlierSession engine.EffectKind = "session"

func earlierLine(data []byte) (line Line, err error) {
	var row earlierRow
	if err := json.Unmarshal(data, &row); err != nil {
		return line, fmt.Errorf("it is no recorded call: %w", err)
	}
	switch {
	case row.Key == "" || (row.Response == nil && row.Value == nil) == (row.Error == nil):
		return line, fmt.Errorf("it lacks the key, or holds not one of response and error")
	case row.Kind == "" && row.Value != nil || row.Kind != "" && row.Response != nil:
		return line, fmt.Errorf("model calls have a response, and all else has a value")
	}
	out := engine.Outcome{Response: row.Response, Err: row.Error, Usage: row.Usage, Attempt: row.Attempt}
	if row.Attempt == 0 { // handlers may leave it out
		out.Attempt = 1
	}
	if row.Value != nil {
		if out.Value, err = earlierValue(row.Value); err != nil {
			return line, fmt.Errorf("its value cannot be read: %w", err)
		}
	}
	if row.Kind == earlierSession {
		line.Head = &Head{}
		line.Head.Session, err = earlierHeld(row.Name, out.Value)
		return line, err
	}
	s := &engine.Step{ID: abi.Position(row.Path) + "@", State: StateOf(out), Kind: row.Kind, Name: row.Name, Agent: row.Agent,
		Key: row.Key, Request: row.Request, Types: row.Types, Usage: row.Usage}
	if s.Kind == "" {
		s.Kind = engine.EffectModel
	}
	if s.Outcome, err = out.MarshalJSON(); err != nil {
		return line, fmt.Errorf("its outcome cannot be read: %w", err)
	}
	line.Step = s
	return line, nil
}

func earlierHeld(id string, v generable.Value) (json.RawMessage, error) {
	held := session.Found{ID: id, Entries: map[string]string{}}
	entries, _ := v.AsMap()
	if entries == nil {
		return nil, fmt.Errorf("a session holds entries")
	}
	for i := range entries.Len() {
		key, v := entries.At(i)
		held.Entries[key], _ = v.AsStr()
	}
	return json.Marshal(held)
}

// imageMark is the only key of the object that represents a picture in a value. In a value that itself has such an
// object, the key gets one more "$".
const imageMark = "$image"

func earlierValue(data json.RawMessage) (generable.Value, error) {
	read := lenient.Decode(generable.AnyT, string(data), generable.Options{Level: generable.Strict})
	if !read.OK {
		return generable.Value{}, read.Errors
	}
	return unmarked(read.Value), nil
}

func unmarked(v generable.Value) generable.Value {
	m, ok := v.AsMap()
	if !ok || m.Len() != 1 {
		return typing.Rebuilt(v, unmarked)
	}
	key, item := m.At(0)
	if picture, ok := item.AsMap(); ok && key == imageMark {
		url, _ := picture.Get("url")
		mime, _ := picture.Get("mime")
		at, _ := url.AsStr()
		kind, _ := mime.AsStr()
		return model.ImageValue(model.Image{URL: at, MIME: kind})
	}
	if strings.HasPrefix(key, "$") && strings.TrimLeft(key, "$") == imageMark[1:] {
		only := generable.NewMap(1)
		only.Set(key[1:], unmarked(item))
		return only.Value()
	}
	return typing.Rebuilt(v, unmarked)
}
