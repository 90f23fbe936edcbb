package starlib

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// maskedValue is a text with values of environment variables in it that the script does not
// know: their names stand for them. It is no data, so that it gets into requests alone.
type maskedValue struct{ parts []maskedPart }

type maskedPart struct {
	text string
	env  string // instead of text
}

var _ starlark.HasBinary = (*maskedValue)(nil)

// maskedOf is what env.secret gives for a variable that is set.
func maskedOf(set generable.Value, name string) (starlark.Value, error) {
	if is, _ := set.AsBool(); !is {
		return nil, errorf(diag.TouchFailed, "the environment variable %q is not set", name).WithHelp("set it where the run is started")
	}
	return &maskedValue{[]maskedPart{{env: name}}}, nil
}

func (s *maskedValue) String() string {
	var b strings.Builder
	for _, p := range s.parts {
		if p.env != "" {
			fmt.Fprintf(&b, "<secret %s>", p.env)
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

func (s *maskedValue) Type() string          { return "Secret" }
func (s *maskedValue) Freeze()               {}
func (s *maskedValue) Truth() starlark.Bool  { return true }
func (s *maskedValue) Hash() (uint32, error) { return starlark.String(s.String()).Hash() }

// Binary is text + secret, secret + text and secret + secret.
func (s *maskedValue) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	var more []maskedPart
	switch y := y.(type) {
	case starlark.String:
		more = []maskedPart{{text: string(y)}}
	case *maskedValue:
		more = y.parts
	default:
		return nil, nil
	}
	if op != syntax.PLUS {
		return nil, nil
	}
	first, then := s.parts, more
	if side == starlark.Right {
		first, then = then, first
	}
	return &maskedValue{append(append([]maskedPart{}, first...), then...)}, nil
}

// data is a list of texts and of records that name variables.
func (s *maskedValue) data() generable.Value {
	items := make([]generable.Value, len(s.parts))
	for i, p := range s.parts {
		if p.env != "" {
			items[i] = generable.NewRecord(engine.SecretType, []generable.Value{generable.StrOf(p.env)}).Value()
		} else {
			items[i] = generable.StrOf(p.text)
		}
	}
	return generable.NewList(items).Value()
}
