package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// The JSON form of an error. Field order is the order of the output.
type (
	jsonError struct {
		Kind    ErrKind         `json:"kind"`
		Code    diag.Code       `json:"code"`
		Message string          `json:"message"`
		Help    string          `json:"help,omitempty"`
		Notes   []string        `json:"notes,omitempty"`
		Path    string          `json:"path,omitempty"`
		Pos     diag.Pos        `json:"pos,omitzero"`
		Trace   []diag.Frame    `json:"trace,omitempty"`
		Attempt int             `json:"attempt,omitempty"`
		Raw     string          `json:"raw,omitempty"`
		Partial json.RawMessage `json:"partial,omitempty"`
		Usage   model.Usage     `json:"usage"`
		OfRun   bool            `json:"of_run,omitempty"`
		Scope   string          `json:"scope,omitempty"`
		Model   *Provider       `json:"model,omitempty"`
		Tool    *FailedCall     `json:"tool,omitempty"`
		Cause   *jsonCause      `json:"cause,omitempty"`
	}
	// jsonCause is either an Error, or a text with its own causes and the name of the well-known error that it
	// represents.
	jsonCause struct {
		Error  *jsonError   `json:"error,omitempty"`
		Text   string       `json:"text,omitempty"`
		Is     string       `json:"is,omitempty"`
		Causes []*jsonCause `json:"causes,omitempty"`
		Joined bool         `json:"joined,omitempty"` // the error joins its causes
	}
)

// wellKnown returns the errors of the standard library that callers distinguish with errors.Is.
func wellKnown() map[string]error {
	return map[string]error{
		"context.Canceled": context.Canceled, "context.DeadlineExceeded": context.DeadlineExceeded,
		"io.EOF": io.EOF, "io.ErrUnexpectedEOF": io.ErrUnexpectedEOF,
		"fs.ErrNotExist": fs.ErrNotExist, "fs.ErrPermission": fs.ErrPermission,
	}
}

// Limits on the number of encoded causes: of those in a row that are not an [Error], and of all together. They also
// keep the nesting within the depth that the JSON decoder reads.
const (
	maxCauses    = 20
	maxAllCauses = 1000
)

// causesCut is the text that takes the place of omitted causes.
const causesCut = "its causes are left out"

// MarshalJSON encodes all of e, and up to 1000 causes. Causes that are not an *Error keep their text, and well-known
// errors of the standard library stay the same to [errors.Is].
func (e *Error) MarshalJSON() ([]byte, error) {
	left := maxAllCauses
	return json.Marshal(encodeError(e, &left))
}

// UnmarshalJSON decodes what MarshalJSON wrote. Partial is decoded as plain data, without its schema. Keys that this
// version does not know are skipped.
func (e *Error) UnmarshalJSON(text []byte) error {
	var in jsonError
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("a recorded error: %w", err)
	}
	out, err := in.decode()
	if err != nil {
		return err
	}
	*e = *out
	return nil
}

// encodeError returns the JSON form of e, with at most *left causes.
func encodeError(e *Error, left *int) *jsonError {
	out := &jsonError{Kind: e.Kind, Code: e.Code, Message: e.Message, Help: e.Help, Notes: e.Notes, Path: e.Path, Pos: e.Pos, Trace: e.Trace, Attempt: e.Attempt,
		Raw: e.Raw, Usage: e.Usage, OfRun: e.OfRun, Scope: e.Scope, Model: e.Model, Tool: e.Tool, Cause: encodeCause(e.Cause, maxCauses, left)}
	if e.Cause != nil && out.Cause == nil && *left == 0 {
		out.Notes = append(slices.Clip(e.Notes), causesCut)
	}
	if !e.Partial.IsNull() {
		out.Partial = generable.AppendJSON(nil, e.Partial, nil)
		if _, err := plainValue(out.Partial); err != nil {
			out.Partial, out.Notes = nil, append(slices.Clip(out.Notes), "what could be made of the answer is left out: "+err.Error())
		}
	}
	return out
}

func (in *jsonError) decode() (*Error, error) {
	cause, err := in.Cause.decode()
	if err != nil {
		return nil, err
	}
	e := &Error{Kind: in.Kind, Code: in.Code, Message: in.Message, Help: in.Help, Notes: in.Notes, Path: in.Path, Pos: in.Pos, Trace: in.Trace, Attempt: in.Attempt,
		Raw: in.Raw, Usage: in.Usage, OfRun: in.OfRun, Scope: in.Scope, Model: in.Model, Tool: in.Tool, Cause: cause}
	if in.Partial != nil {
		if e.Partial, err = plainValue(in.Partial); err != nil {
			return nil, fmt.Errorf("the partial value of a recorded error: %w", err)
		}
	}
	return e, nil
}

// plainValue decodes JSON without a schema.
func plainValue(data []byte) (generable.Value, error) {
	res := lenient.Decode(generable.AnyT, string(data), generable.Options{Level: generable.Strict})
	if !res.OK {
		return generable.Value{}, res.Errors
	}
	return res.Value, nil
}

func encodeCause(err error, inRow int, left *int) *jsonCause {
	if err == nil || inRow == 0 || *left == 0 {
		return nil
	}
	*left--
	if e, ok := err.(*Error); ok {
		if e == nil {
			return nil
		}
		return &jsonCause{Error: encodeError(e, left)}
	}
	c := &jsonCause{Text: err.Error()}
	for name, known := range wellKnown() {
		if err == known {
			c.Is = name
			return c
		}
	}
	var causes []error
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		if inner := w.Unwrap(); inner != nil {
			causes = []error{inner}
		}
	case interface{ Unwrap() []error }:
		c.Joined, causes = true, w.Unwrap()
	}
	none := inRow == 1 || *left == 0
	for _, inner := range causes {
		if inner := encodeCause(inner, inRow-1, left); inner != nil {
			c.Causes = append(c.Causes, inner)
		}
	}
	if none && len(causes) > 0 {
		c.Text, c.Joined = c.Text+" ("+causesCut+")", false
	}
	return c
}

func (c *jsonCause) decode() (error, error) {
	switch {
	case c == nil:
		return nil, nil
	case c.Error != nil:
		return c.Error.decode()
	case c.Is != "":
		if known := wellKnown()[c.Is]; known != nil {
			return known, nil
		}
		return errors.New(c.Text), nil
	}
	var causes []error
	for _, inner := range c.Causes {
		cause, err := inner.decode()
		if err != nil {
			return nil, err
		}
		if cause != nil {
			causes = append(causes, cause)
		}
	}
	switch {
	case c.Joined:
		return &joinedCause{c.Text, causes}, nil
	case len(causes) > 0:
		return &recordedCause{c.Text, causes[0]}, nil
	}
	return errors.New(c.Text), nil
}

// recordedCause is a decoded cause that was not an *Error.
type recordedCause struct {
	text  string
	cause error
}

func (r *recordedCause) Error() string { return r.text }

func (r *recordedCause) Unwrap() error { return r.cause }

// joinedCause is a decoded cause that joins several causes.
type joinedCause struct {
	text   string
	causes []error
}

func (r *joinedCause) Error() string { return r.text }

func (r *joinedCause) Unwrap() []error { return r.causes }
