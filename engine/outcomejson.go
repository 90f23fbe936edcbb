package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// jsonOutcome is the JSON form of an outcome. Values are in their typed form.
type jsonOutcome struct {
	Response *model.Response `json:"response,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Err      *Error          `json:"error,omitempty"`
	Partial  json.RawMessage `json:"partial,omitempty"` // of the error, which holds it as plain data
	Verdict  *Verdict        `json:"verdict,omitempty"` // of the error, whose JSON does not contain it
	Usage    model.Usage     `json:"usage"`
	Attempt  int             `json:"attempt"`

	// Earlier is set in an outcome that encoding/json encoded before this format existed. The other keys then differ
	// only in case, and the value was not kept.
	Earlier json.RawMessage `json:"Err,omitempty"`
}

// MarshalJSON encodes the complete outcome, for a journal or another process: [DecodeOutcome] returns the same. An
// outcome that cannot be encoded completely is an error. The text of an error is made valid UTF-8, and its causes are
// kept as far as the JSON form of [Error] keeps them.
func (o Outcome) MarshalJSON() ([]byte, error) {
	if flaw := o.Flaw(nil); flaw != "" {
		return nil, fmt.Errorf("an outcome has %s", flaw)
	}
	out := jsonOutcome{Response: o.Response, Err: o.Err, Usage: o.Usage, Attempt: o.Attempt}
	if o.Response != nil {
		if err := encodable(o.Response); err != nil {
			return nil, fmt.Errorf("an outcome's answer: %w", err)
		}
	}
	var err error
	if !o.Value.IsNull() {
		if out.Value, err = appendTyped(nil, o.Value, maxTypedDepth); err != nil {
			return nil, fmt.Errorf("an outcome's value: %w", err)
		}
	}
	if o.Err != nil {
		out.Verdict = o.Err.Verdict
	}
	if o.Err != nil && !o.Err.Partial.IsNull() {
		if out.Partial, err = appendTyped(nil, o.Err.Partial, maxTypedDepth); err != nil {
			return nil, fmt.Errorf("what could be made of an answer: %w", err)
		}
		own := *o.Err
		own.Partial = generable.Value{}
		out.Err = &own
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read it
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodable returns an error if a text of the answer would be lost: JSON can hold only UTF-8.
func encodable(r *model.Response) (err error) {
	for i := range r.Parts {
		if result := r.Parts[i].Result; result != nil && len(result.Pictures) > 0 {
			return fmt.Errorf("the pictures of a tool's result are not in a message yet")
		}
	}
	r.EachText(func(s *string) {
		if err == nil && !utf8.ValidString(*s) {
			err = fmt.Errorf("%.200q is not UTF-8", *s)
		}
	})
	return err
}

// UnmarshalJSON decodes what MarshalJSON wrote, provided that it contains no record. See [DecodeOutcome].
func (o *Outcome) UnmarshalJSON(data []byte) (err error) {
	*o, err = DecodeOutcome(data, nil)
	return err
}

// DecodeOutcome decodes what [Outcome.MarshalJSON] wrote. Schemas are nominal, so that records need those of the
// script: types finds them, and a schema that it does not find is an error. Keys that this version does not know are
// skipped: a newer version wrote them.
func DecodeOutcome(data []byte, types Types) (Outcome, error) {
	var in jsonOutcome
	if err := json.Unmarshal(data, &in); err != nil {
		return Outcome{}, fmt.Errorf("a recorded outcome: %w", err)
	}
	if in.Earlier != nil {
		in.Value = nil
		if err := json.Unmarshal(in.Earlier, &in.Err); err != nil {
			return Outcome{}, fmt.Errorf("a recorded outcome: %w", err)
		}
		if in.Response == nil && in.Err == nil {
			return Outcome{}, fmt.Errorf("the version that recorded this outcome did not keep its value")
		}
	}
	out := Outcome{Response: in.Response, Err: in.Err, Usage: in.Usage, Attempt: in.Attempt}
	var err error
	if in.Value != nil {
		if out.Value, err = readTyped(in.Value, types); err != nil {
			return Outcome{}, fmt.Errorf("the value of a recorded outcome: %w", err)
		}
	}
	if out.Err == nil && (in.Partial != nil || in.Verdict != nil) {
		return Outcome{}, fmt.Errorf("a recorded outcome: fields of an error without an error")
	}
	if out.Err != nil {
		out.Err.Verdict = in.Verdict
	}
	if in.Partial != nil {
		if out.Err.Partial, err = readTyped(in.Partial, types); err != nil {
			return Outcome{}, fmt.Errorf("what could be made of a recorded answer: %w", err)
		}
	}
	if flaw := out.Flaw(nil); flaw != "" {
		return Outcome{}, fmt.Errorf("a recorded outcome has %s", flaw)
	}
	return out, nil
}

// EncodeValue returns the typed form of a value, which [DecodeValue] decodes to the same value.
func EncodeValue(v generable.Value) (json.RawMessage, error) {
	return appendTyped(nil, v, maxTypedDepth)
}

// DecodeValue decodes what [EncodeValue] wrote. types finds the schemas of records, as for [DecodeOutcome].
func DecodeValue(data json.RawMessage, types Types) (generable.Value, error) {
	return readTyped(data, types)
}

// The typed form of a value is JSON from which the same value can be decoded, including the kinds of numbers, the
// order of maps and the schemas of records. It is what generable.AppendJSON writes, with two differences: a record is
// {"$record": the ID of its schema, "$fields": its fields}, and a map with a key that begins with $ is {"$map": its
// entries}.
const (
	recordKey = "$record"
	fieldsKey = "$fields"
	mapKey    = "$map"
)

// maxTypedDepth limits the nesting of the typed form of a value to what the decoder reads.
const maxTypedDepth = 500

// maxTypedDigits limits the length of integers in the typed form, including the sign: the decoder reads no longer
// ones.
const maxTypedDigits = 4300

// Types finds a schema by its ID. It returns nil if there is none; a schema with a different ID counts as none. A
// record for which it returns [generable.AnyT] is decoded as a map of its fields.
type Types func(id string) *generable.Type

// OrMaps returns a Types with which records of unknown schemas are decoded as maps.
func (t Types) OrMaps() Types {
	return func(id string) *generable.Type {
		if t != nil {
			if schema := t(id); schema != nil {
				return schema
			}
		}
		return generable.AnyT
	}
}

// TypesOf returns a Types that finds the schemas of which the given types consist.
func TypesOf(types ...*generable.Type) Types {
	known := map[string]*generable.Type{}
	for _, t := range types {
		generable.Walk(t, func(t *generable.Type) bool {
			if t.Kind == generable.RecordType {
				known[t.ID()] = t
			}
			return true
		})
	}
	return func(id string) *generable.Type { return known[id] }
}

// appendTyped appends the typed form of v. A value that cannot be written completely is an error: text that is not
// UTF-8, or nesting that is too deep.
func appendTyped(b []byte, v generable.Value, depth int) ([]byte, error) {
	if depth < 0 {
		return b, fmt.Errorf("the value is nested deeper than %d", maxTypedDepth)
	}
	if s, ok := v.AsStr(); ok {
		return appendText(b, s)
	}
	if l, ok := v.AsList(); ok {
		b = append(b, '[')
		for i, item := range l.Items() {
			var err error
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendTyped(b, item, depth-1); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
	if m, ok := v.AsMap(); ok {
		return appendMap(b, m, depth)
	}
	if r, ok := v.AsRecord(); ok {
		return appendRecord(b, r, depth)
	}
	n := len(b)
	if b = generable.AppendJSON(b, v, nil); v.Kind() == generable.Big && len(b)-n > maxTypedDigits {
		return b, fmt.Errorf("the value holds an integer of more than %d digits", maxTypedDigits)
	}
	return b, nil
}

func appendMap(b []byte, m *generable.Map, depth int) (_ []byte, err error) {
	ends := "}"
	for _, k := range m.Keys() {
		if strings.HasPrefix(k, "$") {
			b, ends = append(b, `{"`+mapKey+`":`...), "}}"
			depth-- // it takes two levels, as a record does
			break
		}
	}
	b = append(b, '{')
	for i := range m.Len() {
		k, v := m.At(i)
		if b, err = appendEntry(b, i == 0, k, v, depth); err != nil {
			return b, err
		}
	}
	return append(b, ends...), nil
}

func appendRecord(b []byte, r *generable.Record, depth int) (_ []byte, err error) {
	t := r.Type()
	if b, err = appendText(append(b, `{"`+recordKey+`":`...), t.ID()); err != nil {
		return b, err
	}
	b = append(b, `,"`+fieldsKey+`":{`...)
	first := true
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Omit && r.At(i) == f.Default { // it was omitted, which is not the same as None
			continue
		}
		if b, err = appendEntry(b, first, f.Name, r.At(i), depth-1); err != nil {
			return b, err
		}
		first = false
	}
	return append(b, "}}"...), nil
}

func appendEntry(b []byte, first bool, key string, v generable.Value, depth int) ([]byte, error) {
	if !first {
		b = append(b, ',')
	}
	b, err := appendText(b, key)
	if err != nil {
		return b, err
	}
	return appendTyped(append(b, ':'), v, depth-1)
}

func appendText(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return b, fmt.Errorf("%q is not UTF-8", text.Clip(s, maxShown))
	}
	return text.AppendQuoted(b, s), nil
}

// readTyped decodes what appendTyped wrote. Schemas are nominal: a schema that types does not know is an error, and
// so is a record that does not conform to its schema, or a types that panics. A nil types knows no schema.
func readTyped(data []byte, types Types) (_ generable.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Panicked("what finds the schemas", p)
		}
	}()
	plain, err := plainValue(data)
	if err != nil {
		return generable.Value{}, err
	}
	return types.checked().restore(plain)
}

// checked returns a Types that looks up each schema once, and finds only complete schemas with the ID that was asked
// for: the decoding functions rely on both.
func (t Types) checked() Types {
	found := map[string]*generable.Type{}
	return func(id string) *generable.Type {
		schema, asked := found[id]
		if !asked && t != nil {
			if schema = t(id); schema != nil && schema != generable.AnyT && (schema.Kind != generable.RecordType || schema.Verify() != nil || schema.ID() != id) {
				schema = nil
			}
			found[id] = schema
		}
		return schema
	}
}

// restore converts the maps that represent records, or maps with unusual keys, to what they represent.
func (t Types) restore(v generable.Value) (generable.Value, error) {
	if l, ok := v.AsList(); ok {
		items := make([]generable.Value, l.Len())
		for i, item := range l.Items() {
			var err error
			if items[i], err = t.restore(item); err != nil {
				return v, err
			}
		}
		return generable.NewList(items).Value(), nil
	}
	m, ok := v.AsMap()
	if !ok {
		return v, nil
	}
	if m.Len() == 0 || !strings.HasPrefix(m.Keys()[0], "$") {
		return t.entries(m, false)
	}
	if inner, ok := only(m, mapKey); ok && m.Len() == 1 {
		return t.entries(inner, true)
	}
	if fields, ok := only(m, fieldsKey); ok && m.Len() == 2 {
		id, _ := m.Get(recordKey)
		if id, ok := id.AsStr(); ok {
			return t.record(id, fields)
		}
	}
	return v, fmt.Errorf("%q is no key of a map", m.Keys()[0])
}

// only returns the map under a key.
func only(m *generable.Map, key string) (*generable.Map, bool) {
	v, _ := m.Get(key)
	return v.AsMap()
}

func (t Types) entries(m *generable.Map, dollars bool) (generable.Value, error) {
	out := generable.NewMap(m.Len())
	for i := range m.Len() {
		k, v := m.At(i)
		if !dollars && strings.HasPrefix(k, "$") {
			return generable.Value{}, fmt.Errorf("%q is no key of a map", k)
		}
		v, err := t.restore(v)
		if err != nil {
			return v, err
		}
		out.Set(k, v)
	}
	return out.Value(), nil
}

func (t Types) record(id string, fields *generable.Map) (generable.Value, error) {
	schema := t(id)
	if schema == nil {
		return generable.Value{}, fmt.Errorf("the schema %s is not known", text.Clip(id, maxShown))
	}
	given, err := t.entries(fields, true)
	if err != nil {
		return given, err
	}
	if schema == generable.AnyT {
		return given, nil
	}
	m, _ := given.AsMap()
	vals, found := make([]generable.Value, len(schema.Fields)), 0
	for i := range schema.Fields {
		f := &schema.Fields[i]
		v, ok := m.Get(f.Name)
		switch {
		case ok:
			found++
			if errs := f.Type.Conforms(v); errs != nil {
				return v, fmt.Errorf("the field %s of a %s: %w", f.Name, schema.Name, errs)
			}
		case f.Omit:
			v = f.Default
		default:
			return v, fmt.Errorf("the field %s of a %s is missing", f.Name, schema.Name)
		}
		vals[i] = v
	}
	if found < m.Len() {
		return given, fmt.Errorf("a %s has a field that its schema lacks", schema.Name)
	}
	return generable.NewRecord(schema, vals).Value(), nil
}
