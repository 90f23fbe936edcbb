package redact

import (
	"errors"
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Response takes keys out of an answer, in place: out of all that is text.
func (s *Set) Response(r *model.Response) {
	if s == nil {
		return
	}
	r.EachText(func(t *string) { s.each(t) })
}

// each takes keys out of texts, and reports whether there were any.
func (s *Set) each(texts ...*string) (found bool) {
	for _, t := range texts {
		if s.Holds(*t) {
			*t, found = s.String(*t), true
		}
	}
	return found
}

// Error returns the error without keys: e itself when it holds none.
func (s *Set) Error(e *engine.Error) *engine.Error {
	if s == nil || e == nil {
		return e
	}
	own := *e
	found := s.each(&own.Message, &own.Help, &own.Path, &own.Raw)
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

// Cause returns an error without keys. One that holds none, nor any below it, stays what it is
// to errors.Is and As; of any other the text is left.
func (s *Set) Cause(err error) error {
	if !s.inCause(err) {
		return err
	}
	if e, ok := err.(*engine.Error); ok {
		return s.Error(e)
	}
	return errors.New(s.String(err.Error()))
}

func (s *Set) inCause(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case *engine.Error:
		return s.Error(e) != e
	}
	if s.Holds(err.Error()) {
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
