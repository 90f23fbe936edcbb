package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine/internal/redact"
)

// Body is a JSON object that keeps the order of its members: a patch changes only the named members, and the keys of a
// schema inside keep their declared order.
type Body struct {
	keys   []string
	values map[string]json.RawMessage
	err    error // the first error of a member that cannot be encoded
}

// newBody returns an object without members.
func newBody() *Body { return &Body{values: map[string]json.RawMessage{}} }

// modelBody returns the beginning of a request that names its model.
func modelBody(p *Plan) *Body {
	b := newBody()
	b.SetRaw("model", json.RawMessage(quoted(p.Model)))
	return b
}

// ParseBody reads one JSON object.
func ParseBody(data []byte) (*Body, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if open != json.Delim('{') {
		return nil, fmt.Errorf("a JSON object is wanted, not %v", open)
	}
	b := newBody()
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		b.SetRaw(key.(string), value)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	return b, nil
}

// Get returns the encoded member, or nil.
func (b *Body) Get(key string) json.RawMessage { return b.values[key] }

// SetRaw replaces the member in place, or appends it.
//
//go:noinline
func (b *Body) SetRaw(key string, value json.RawMessage) {
	if _, ok := b.values[key]; !ok {
		b.keys = append(b.keys, key)
	}
	b.values[key] = value
}

// Set replaces the member in place, or appends it. MarshalJSON reports a value that cannot be encoded.
func (b *Body) Set(key string, value any) {
	raw, err := encode(value)
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("%s: %w", key, err)
	}
	b.SetRaw(key, raw)
}

// member is a member that is set on a condition.
type member struct {
	set   bool
	key   string
	value any
}

// add sets the members whose condition holds, in order.
func (b *Body) add(members ...member) {
	for _, m := range members {
		if m.set {
			b.Set(m.key, m.value)
		}
	}
}

// own lists the members that determine the request to the model and how its answer is read. Members that a script or
// host adds to a request must not replace them.
var own = map[string]string{
	"model": "model = ...", "messages": "the input, task = ... and history = ...", "contents": "the input, task = ... and history = ...",
	"system": "prompt = ...", "systemInstruction": "prompt = ...", "stream": "nothing: answers are read as they arrive", "stream_options": "nothing: the usage is always asked for",
	"tools": "tools = [...]", "tool_choice": "tool_choice = ...", "toolConfig.functionCallingConfig.mode": "tool_choice = ...",
	"toolConfig.functionCallingConfig.allowedFunctionNames": "tool_choice = ...",
	"response_format": "output = T", "format": "output = T", "output_config.format": "output = T",
	"generationConfig.responseMimeType": "output = T", "generationConfig.responseJsonSchema": "output = T",
}

// Merge sets the members of a JSON object; an empty one is allowed. If both sides have an object under a key, these are
// merged recursively, and tools are appended to the existing ones.
func (b *Body) Merge(object json.RawMessage) error {
	if len(object) == 0 {
		return nil
	}
	return b.merge(object, "")
}

func (b *Body) merge(object json.RawMessage, path string) error {
	extra, err := ParseBody(object)
	if err != nil {
		return fmt.Errorf("extra: %w", err)
	}
	for _, key := range extra.keys {
		value, had := extra.values[key], b.values[key]
		inner, err := ParseBody(had)
		switch {
		case err == nil && bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")):
			if err := inner.merge(value, path+key+"."); err != nil {
				return err
			}
			if value, err = encode(inner); err != nil {
				return err
			}
		case had != nil && path+key == "tools":
			if value, err = withTools(had, value); err != nil {
				return err
			}
		case had != nil && saidBy(path+key) != "" && !sameJSON(had, value):
			return &Unsupported{What: fmt.Sprintf("is sent %q already, and extra would replace it", path+key), Help: "leave it out of extra; it is said by " + saidBy(path+key)}
		}
		b.SetRaw(key, value)
	}
	return nil
}

// saidBy returns what sets a member, or the member that contains it; "" for members that anybody may set.
func saidBy(path string) string {
	for {
		if by := own[path]; by != "" {
			return by
		}
		cut := strings.LastIndexByte(path, '.')
		if cut < 0 {
			return ""
		}
		path = path[:cut]
	}
}

// withTools appends the provider's own tools to those of the agent.
func withTools(had, extra json.RawMessage) (json.RawMessage, error) {
	var all, more []json.RawMessage
	if err := json.Unmarshal(had, &all); err != nil {
		return nil, err
	}
	if json.Unmarshal(extra, &more) != nil {
		return nil, &Unsupported{What: `takes "tools" as a list`, Help: `write extra = {"tools": [{"type": "..."}]}: its items are added to the agent's tools`}
	}
	names := toolNames(all)
	for name := range toolNames(more) {
		if names[name] {
			return nil, &Unsupported{What: fmt.Sprintf("is sent a tool %q already, and extra adds another one", name), Help: "leave it out of extra: tools = [...] says it"}
		}
	}
	return encode(append(all, more...))
}

// toolNames returns the names of tools in the providers' forms.
func toolNames(tools []json.RawMessage) map[string]bool {
	names := map[string]bool{}
	for _, t := range tools {
		var of struct {
			Name     string                  `json:"name"`
			Function struct{ Name string }   `json:"function"`
			Several  []struct{ Name string } `json:"functionDeclarations"`
		}
		_ = json.Unmarshal(t, &of) // another kind of object has no name
		for _, one := range append(of.Several, struct{ Name string }{of.Name}, struct{ Name string }{of.Function.Name}) {
			if one.Name != "" {
				names[one.Name] = true
			}
		}
	}
	return names
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// hide removes keys from everything in a body, whatever its origin: the texts of the request are already free of them,
// but schemas and names of tools may not be. The name of the model stays, since it is in the address too.
func (b *Body) hide(keys *redact.Set) {
	for _, name := range b.keys {
		if name != "model" {
			b.values[name] = keys.JSON(b.values[name])
		}
	}
}

// Len returns the number of members.
func (b *Body) Len() int { return len(b.keys) }

// MarshalJSON writes the members in their order.
func (b *Body) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, key := range b.keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted(key)...), ':'), b.values[key]...)
	}
	return append(out, '}'), b.err
}

// encode writes JSON without the HTML escapes of json.Marshal, so that a recorded request is readable.
func encode(value any) (json.RawMessage, error) {
	switch v := value.(type) {
	case *Body:
		return v.MarshalJSON()
	case json.RawMessage:
		return v, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// quoted writes a text as JSON.
func quoted(s string) string {
	raw, _ := encode(s) // a string can always be encoded
	return string(raw)
}
