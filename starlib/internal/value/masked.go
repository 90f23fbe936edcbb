package value

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Masked is a text that contains values of environment variables which the script does not know: their names stand for
// them. It is not data, so it can only get into requests.
type Masked struct {
	Plain
	Parts []MaskedPart
}

// MaskedPart is a text, or the name of a variable that stands for its value.
type MaskedPart struct {
	Text string
	Env  string // instead of Text
}

var _ starlark.HasBinary = (*Masked)(nil)

// MaskedOf returns the result of env.secret for a variable that is set.
func MaskedOf(set generable.Value, name string) (starlark.Value, error) {
	if is, _ := set.AsBool(); !is {
		return nil, script.Errorf(diag.TouchFailed, "the environment variable %q is not set", name).WithHelp("set it where the run is started")
	}
	return &Masked{Parts: []MaskedPart{{Env: name}}}, nil
}

func (s *Masked) String() string {
	var b strings.Builder
	for _, p := range s.Parts {
		if p.Env != "" {
			fmt.Fprintf(&b, "<secret %s>", p.Env)
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func (s *Masked) Type() string { return "Secret" }

func (s *Masked) Hash() (uint32, error) { return starlark.String(s.String()).Hash() }

// Binary implements text + secret, secret + text and secret + secret.
func (s *Masked) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	y = Unwrapped(y)
	var more []MaskedPart
	switch y := y.(type) {
	case starlark.String:
		more = []MaskedPart{{Text: string(y)}}
	case *Masked:
		more = y.Parts
	default:
		return nil, nil
	}
	if op != syntax.PLUS {
		return nil, nil
	}
	first, then := s.Parts, more
	if side == starlark.Right {
		first, then = then, first
	}
	return &Masked{Parts: slices.Concat(first, then)}, nil
}

// Data returns a list of texts and of records that name variables.
func (s *Masked) Data() generable.Value {
	items := make([]generable.Value, len(s.Parts))
	for i, p := range s.Parts {
		if p.Env != "" {
			items[i] = generable.NewRecord(capability.SecretType, []generable.Value{generable.StrOf(p.Env)}).Value()
		} else {
			items[i] = generable.StrOf(p.Text)
		}
	}
	return generable.NewList(items).Value()
}
