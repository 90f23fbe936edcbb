package repl

import (
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/setup"
)

// runNamed runs what a name holds: a node that takes a str with the text, others with JSON.
func (s *session) runNamed(rest string) error {
	name, input, _ := strings.Cut(rest, " ")
	input = strings.TrimSpace(input)
	if name == "" {
		return s.wrong(":run NAME INPUT", ":run takes the name of a node or function")
	}
	m := s.ws.Module()
	typ, _, _, _ := m.Describe(name)
	if typ == "" {
		return s.unknown(name)
	}
	n := m.Node(name)
	if n == nil && typ != "function" {
		return s.wrong("name a node or a function", "%s is %s, which cannot be run", name, typ)
	}
	arg := syntax.Quote(input, false)
	asText := n != nil && n.In().String() == "str"
	if n == nil {
		f, err := m.Flow(name)
		if err != nil {
			return s.fail(setup.LoadFailure(name, err))
		}
		switch params := f.Params.Fields; {
		case len(params) == 0 && input == "":
			arg, asText = "", true
		case len(params) == 1 && !strings.HasPrefix(input, "{"): // the only argument, as run takes it
			if asText = params[0].Type.AcceptsText(); !asText {
				arg, asText = "json.decode("+arg+")", true
			}
		}
	}
	switch {
	case asText:
	case n == nil:
		arg = "**json.decode(" + arg + ")"
	case input == "" && n.In().AcceptsNone():
		arg = "None"
	default:
		arg = "json.decode(" + arg + ")"
	}
	return s.eval(":run", name+"("+arg+")", s.checked, nil)
}

// replay repeats the last run.
func (s *session) replay(string) error {
	if s.last == nil {
		return s.wrong("call a node first", "nothing ran yet")
	}
	opts, err := s.last.ports.Again(s.tape.Bytes()[s.last.from:s.last.to], s.flags)
	if err != nil {
		return s.fail(err)
	}
	ctx, stop := s.c.Interruptible()
	defer stop()
	spent := s.spent
	defer func() { s.spent = spent }() // nothing was asked
	block := s.last.block
	said, err := s.follow(ctx, block, append(opts, agentscript.RunLimits(s.flags.Limits(s.own))))
	if err != nil || said || !block.IsValue() {
		return err
	}
	return s.show()
}

// offer is a fix of the last entry that failed.
type offer struct {
	source string
	fix    diag.Fix
}

// offer keeps the first fix of what was found.
func (s *session) offer(source string, found diag.List) {
	s.offered = nil
	for _, d := range found {
		if len(d.Fixes) > 0 {
			s.offered = &offer{source, d.Fixes[0]}
			return
		}
	}
}

// fix enters what failed anew, with its fix.
func (s *session) fix(string) error {
	if s.offered == nil {
		if !s.in.interactive() {
			return s.wrong("agentscript check shows the fixes of a script", ":fix is for a terminal: the first error ends a pipe")
		}
		return s.wrong("", "the last entry has no error with a fix")
	}
	o := s.offered
	s.offered = nil
	lines := strings.SplitAfter(o.source, "\n")
	at := o.fix.Span
	if at.Line < 1 || at.Line > len(lines) {
		return s.wrong("", "the fix has no place in the entry")
	}
	line := []rune(lines[at.Line-1])
	from := min(max(at.Col-1, 0), len(line))
	to := min(from+at.Len, len(line))
	lines[at.Line-1] = string(line[:from]) + o.fix.Replacement + string(line[to:])
	fixed := strings.Join(lines, "")
	if err := s.print(strings.TrimRight(fixed, "\n")); err != nil {
		return err
	}
	return s.entry(fixed)
}
