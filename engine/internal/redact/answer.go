package redact

import (
	"errors"
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Response removes keys from all texts of an answer, in place.
func (s *Set) Response(r *model.Response) {
	if s == nil {
		return
	}
	r.EachText(func(t *string) { s.each(t) })
}

// Request returns the request of an effect without keys: p itself if it contains none.
func (s *Set) Request(p engine.Payload) engine.Payload {
	switch r := p.(type) {
	case *model.Request:
		if s != nil && r != nil {
			return r.Rewritten(s.number, s.String)
		}
	case *engine.ToolRequest:
		if v, found := s.Value(r.Args); found {
			own := *r
			own.Args = v
			return &own
		}
	case *capability.Request:
		if v, found := s.Value(r.Args.Value()); found {
			own := *r
			own.Args, _ = v.AsMap()
			return &own
		}
	case *engine.ApprovalRequest:
		own := *r
		v, found := s.Value(r.Data)
		if own.Data = v; s.each(&own.Question, &own.Why) || found {
			return &own
		}
	}
	return p
}

// Outcome removes keys from the outcome of an effect, and reports whether there were any.
func (s *Set) Outcome(out *engine.Outcome) (found bool) {
	out.Value, found = s.Value(out.Value)
	if r := out.Response.Rewritten(s.String); r != out.Response {
		out.Response, found = r, true
	}
	if e := s.Error(out.Err); e != out.Err {
		out.Err, found = e, true
	}
	return found
}

// each removes keys from texts, and reports whether there were any.
func (s *Set) each(texts ...*string) (found bool) {
	for _, t := range texts {
		if s.Holds(*t) {
			*t, found = s.String(*t), true
		}
	}
	return found
}

// Error returns the error without keys: e itself if it contains none. Messages quote what others said and cut
// it off, so that they may end in a part of a key.
func (s *Set) Error(e *engine.Error) *engine.Error {
	if s == nil || e == nil {
		return e
	}
	own := *e
	own.Message = s.said(own.Message)
	found := s.each(&own.Help, &own.Path, &own.Scope, &own.Raw) || own.Message != e.Message
	if e.Model != nil {
		m := *e.Model
		found = s.each(&m.Name, &m.Model, &m.Code, &m.RequestID) || found
		own.Model = &m
	}
	if text := generable.JSON(e.Partial, nil); !e.Partial.IsNull() && s.Holds(text) {
		found = true
		own.Partial = lenient.Decode(generable.AnyT, s.String(text), generable.Options{}).Value
	}
	if s.inCause(e.Cause) {
		found = true
		own.Cause = s.Cause(e.Cause)
	}
	if !found {
		return e
	}
	return &own
}

// said returns what an error says without keys.
func (s *Set) said(text string) string {
	if s == nil {
		return text
	}
	return s.m.uncut(s.String(text))
}

// Cause returns an error without keys. An error chain without keys is returned as it is, for errors.Is and As;
// of any other only the text is kept.
func (s *Set) Cause(err error) error {
	if !s.inCause(err) {
		return err
	}
	if e, ok := err.(*engine.Error); ok {
		return s.Error(e)
	}
	return errors.New(s.said(err.Error()))
}

func (s *Set) inCause(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case *engine.Error:
		return s.Error(e) != e
	}
	if text := err.Error(); s.said(text) != text {
		return true
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		return s.inCause(w.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(w.Unwrap(), s.inCause)
	}
	return false
}
