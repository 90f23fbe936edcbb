package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// jsonOutcome is the JSON form of an outcome. Values are in their typed form.
type jsonOutcome struct {
	Response *model.Response `json:"response,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Err      *Error          `json:"error,omitempty"`
	Partial  json.RawMessage `json:"partial,omitempty"` // of the error, which has it as plain data
	Verdict  *Verdict        `json:"verdict,omitempty"` // of the error, in whose JSON it does not stand
	Usage    model.Usage     `json:"usage"`
	Attempt  int             `json:"attempt"`

	// Earlier is there in what encoding/json made of an outcome before this form was: the other keys are
	// these but for their case, and the value was not kept.
	Earlier json.RawMessage `json:"Err,omitempty"`
}

// MarshalJSON encodes the outcome whole, for a journal or another process: [DecodeOutcome] returns
// the same. What cannot be encoded whole is an error. The text of an error is made UTF-8, and its
// causes are kept as far as the JSON form of [Error] keeps them.
func (o Outcome) MarshalJSON() ([]byte, error) {
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
	return json.Marshal(out)
}

// encodable returns an error when a text of the answer would be lost: JSON holds UTF-8 alone.
func encodable(r *model.Response) error {
	texts := []string{string(r.Finish), r.RawFinish, r.Provider, r.Model, r.RequestID, r.Dialect}
	for _, p := range r.Parts {
		texts = append(texts, string(p.Kind), p.Text)
		if p.Image != nil {
			texts = append(texts, p.Image.URL, p.Image.MIME)
		}
		if p.Call != nil {
			texts = append(texts, p.Call.ID, p.Call.Name, p.Call.Args, p.Call.Dialect)
		}
		if p.Result != nil {
			if len(p.Result.Pictures) > 0 {
				return fmt.Errorf("the pictures of a tool's result do not stand in a message yet")
			}
			texts = append(texts, p.Result.CallID, p.Result.Name, p.Result.Text)
		}
		if p.Opaque != nil {
			texts = append(texts, p.Opaque.Provider, p.Opaque.Data)
		}
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%.200q is not UTF-8", s)
		}
	}
	return nil
}

// UnmarshalJSON decodes what MarshalJSON wrote where no record is in it. See [DecodeOutcome].
func (o *Outcome) UnmarshalJSON(data []byte) (err error) {
	*o, err = DecodeOutcome(data, nil)
	return err
}

// DecodeOutcome decodes what [Outcome.MarshalJSON] wrote. Schemas are nominal, so that records need
// those of the script: types finds them, and one that it does not find is an error, as is a key that
// this version does not know.
func DecodeOutcome(data []byte, types Types) (Outcome, error) {
	var in jsonOutcome
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return Outcome{}, fmt.Errorf("a recorded outcome: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Outcome{}, fmt.Errorf("a recorded outcome: something follows it")
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
		return Outcome{}, fmt.Errorf("a recorded outcome: what belongs to an error stands without one")
	}
	if out.Err != nil {
		out.Err.Verdict = in.Verdict
	}
	if in.Partial != nil {
		if out.Err.Partial, err = readTyped(in.Partial, types); err != nil {
			return Outcome{}, fmt.Errorf("what could be made of a recorded answer: %w", err)
		}
	}
	return out, nil
}
