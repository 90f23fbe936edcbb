package redact

import (
	"errors"

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
	s.each(&r.RawFinish, &r.Model, &r.RequestID)
	for i := range r.Parts {
		p := &r.Parts[i]
		s.each(&p.Text)
		if p.Call != nil {
			s.each(&p.Call.ID, &p.Call.Name, &p.Call.Args)
		}
		if p.Result != nil {
			s.each(&p.Result.CallID, &p.Result.Name, &p.Result.Text)
		}
		if p.Opaque != nil {
			s.each(&p.Opaque.Provider, &p.Opaque.Data)
		}
	}
}

func (s *Set) each(texts ...*string) {
	for _, t := range texts {
		*t = s.String(*t)
	}
}

// Error returns the error without keys: e itself when it holds none.
func (s *Set) Error(e *engine.Error) *engine.Error {
	if s == nil || e == nil || !s.inError(e) {
		return e
	}
	own := *e
	s.each(&own.Message, &own.Help, &own.Path, &own.Raw)
	if text := generable.JSON(e.Partial, nil); s.Holds(text) {
		own.Partial = lenient.Decode(generable.AnyT, s.String(text), generable.Options{}).Value
	}
	if e.Model != nil {
		m := *e.Model
		s.each(&m.Name, &m.Model, &m.Code, &m.RequestID)
		own.Model = &m
	}
	own.Cause = s.Cause(e.Cause)
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

func (s *Set) inError(e *engine.Error) bool {
	if s.Holds(e.Message) || s.Holds(e.Help) || s.Holds(e.Path) || s.Holds(e.Raw) || s.inCause(e.Cause) {
		return true
	}
	if m := e.Model; m != nil && (s.Holds(m.Name) || s.Holds(m.Model) || s.Holds(m.Code) || s.Holds(m.RequestID)) {
		return true
	}
	return !e.Partial.IsNull() && s.Holds(generable.JSON(e.Partial, nil))
}

func (s *Set) inCause(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case *engine.Error:
		return e != nil && s.inError(e)
	}
	if s.Holds(err.Error()) {
		return true
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		return s.inCause(w.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range w.Unwrap() {
			if s.inCause(inner) {
				return true
			}
		}
	}
	return false
}
