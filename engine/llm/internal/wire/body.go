package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Body is a JSON object that keeps the order of its members: a patch touches what it names
// and nothing else, and the keys of a schema inside stay in their declared order.
type Body struct {
	keys   []string
	values map[string]json.RawMessage
	err    error // why the first of the members that cannot be written cannot
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

// Get returns the member as it is written, or nil.
func (b *Body) Get(key string) json.RawMessage { return b.values[key] }

// SetRaw replaces the member in place, or appends it.
func (b *Body) SetRaw(key string, value json.RawMessage) {
	if _, ok := b.values[key]; !ok {
		b.keys = append(b.keys, key)
	}
	b.values[key] = value
}

// Set replaces the member in place, or appends it. MarshalJSON reports a value that cannot be written.
func (b *Body) Set(key string, value any) {
	raw, err := encode(value)
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("%s: %w", key, err)
	}
	b.SetRaw(key, raw)
}

// member is one that a body gets on a condition.
type member struct {
	set   bool
	key   string
	value any
}

// add sets the members whose condition holds, in their order.
func (b *Body) add(members ...member) {
	for _, m := range members {
		if m.set {
			b.Set(m.key, m.value)
		}
	}
}

// Merge sets the members of a JSON object; nothing is fine. Where both hold an object under a
// key, its members are merged in turn.
func (b *Body) Merge(object json.RawMessage) error {
	if len(object) == 0 {
		return nil
	}
	extra, err := ParseBody(object)
	if err != nil {
		return fmt.Errorf("extra: %w", err)
	}
	for _, key := range extra.keys {
		value := extra.values[key]
		if own, err := ParseBody(b.values[key]); err == nil && bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
			if err := own.Merge(value); err != nil {
				return err
			}
			if value, err = encode(own); err != nil {
				return err
			}
		}
		b.SetRaw(key, value)
	}
	return nil
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

// encode writes JSON without the HTML escapes of json.Marshal, so that a recorded request
// reads as it was meant.
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
