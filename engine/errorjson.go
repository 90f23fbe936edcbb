package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

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
	// jsonCause is one of: an Error, or a text with the well-known error that it stands for
	// and with causes of its own.
	jsonCause struct {
		Error  *Error       `json:"error,omitempty"`
		Text   string       `json:"text,omitempty"`
		Is     string       `json:"is,omitempty"`
		Causes []*jsonCause `json:"causes,omitempty"`
		Joined bool         `json:"joined,omitempty"` // the causes stand beside each other
	}
)

// wellKnown are the errors that callers tell apart by errors.Is though they are none of ours.
func wellKnown() map[string]error {
	return map[string]error{
		"context.Canceled": context.Canceled, "context.DeadlineExceeded": context.DeadlineExceeded,
		"io.EOF": io.EOF, "io.ErrUnexpectedEOF": io.ErrUnexpectedEOF,
		"fs.ErrNotExist": fs.ErrNotExist, "fs.ErrPermission": fs.ErrPermission,
	}
}

// maxCauses bounds how deep a chain of causes is encoded.
const maxCauses = 20

// MarshalJSON encodes all of e. Causes that are no *Error keep their text, and what is
// well-known of the standard library stays the same to [errors.Is].
func (e *Error) MarshalJSON() ([]byte, error) {
	out := jsonError{Kind: e.Kind, Code: e.Code, Message: e.Message, Help: e.Help, Notes: e.Notes, Path: e.Path, Pos: e.Pos, Trace: e.Trace, Attempt: e.Attempt,
		Raw: e.Raw, Usage: e.Usage, OfRun: e.OfRun, Scope: e.Scope, Model: e.Model, Tool: e.Tool, Cause: encodeCause(e.Cause, maxCauses)}
	if !e.Partial.IsNull() {
		out.Partial = generable.AppendJSON(nil, e.Partial, nil)
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes what MarshalJSON wrote. Partial comes back as plain data, without its
// schema.
func (e *Error) UnmarshalJSON(text []byte) error {
	var in jsonError
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("a recorded error: %w", err)
	}
	*e = Error{Kind: in.Kind, Code: in.Code, Message: in.Message, Help: in.Help, Notes: in.Notes, Path: in.Path, Pos: in.Pos, Trace: in.Trace, Attempt: in.Attempt,
		Raw: in.Raw, Usage: in.Usage, OfRun: in.OfRun, Scope: in.Scope, Model: in.Model, Tool: in.Tool, Cause: in.Cause.decode()}
	if in.Partial != nil {
		res := lenient.Decode(generable.AnyT, string(in.Partial), generable.Options{Level: generable.Strict})
		if !res.OK {
			return fmt.Errorf("the partial value of a recorded error: %w", res.Errors)
		}
		e.Partial = res.Value
	}
	return nil
}

func encodeCause(err error, depth int) *jsonCause {
	if err == nil || depth == 0 {
		return nil
	}
	if e, ok := err.(*Error); ok {
		return &jsonCause{Error: e}
	}
	c := &jsonCause{Text: err.Error()}
	for name, known := range wellKnown() {
		if err == known {
			c.Is = name
			return c
		}
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		if inner := encodeCause(w.Unwrap(), depth-1); inner != nil {
			c.Causes = []*jsonCause{inner}
		}
	case interface{ Unwrap() []error }:
		c.Joined = true
		for _, inner := range w.Unwrap() {
			if inner := encodeCause(inner, depth-1); inner != nil {
				c.Causes = append(c.Causes, inner)
			}
		}
	}
	return c
}

func (c *jsonCause) decode() error {
	switch {
	case c == nil:
		return nil
	case c.Error != nil:
		return c.Error
	case c.Is != "":
		if known := wellKnown()[c.Is]; known != nil {
			return known
		}
		return errors.New(c.Text)
	}
	var causes []error
	for _, inner := range c.Causes {
		causes = append(causes, inner.decode())
	}
	switch {
	case c.Joined:
		return &joinedCause{c.Text, causes}
	case len(causes) > 0:
		return &recordedCause{c.Text, causes[0]}
	}
	return errors.New(c.Text)
}

// recordedCause is a cause that was no *Error, as far as its record tells.
type recordedCause struct {
	text  string
	cause error
}

func (r *recordedCause) Error() string { return r.text }

func (r *recordedCause) Unwrap() error { return r.cause }

// joinedCause is one that has several causes itself.
type joinedCause struct {
	text   string
	causes []error
}

func (r *joinedCause) Error() string { return r.text }

func (r *joinedCause) Unwrap() []error { return r.causes }
