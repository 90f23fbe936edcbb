package repl

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/text"
)

// runNamed runs what a name holds. A node that takes a str gets the text, others get JSON.
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
	var takes *generable.Type // the type of the JSON, nil for the arguments of a function
	asText := false
	switch {
	case n != nil:
		takes = n.In()
		if asText = takes.String() == "str"; input == "" && takes.AcceptsNone() {
			arg, asText, input = "None", true, "None"
		}
	default:
		f, err := m.Flow(name)
		if err != nil {
			return s.fail(setup.LoadFailure(name, err))
		}
		params := f.Params.Fields
		switch {
		case input == "" && !slices.ContainsFunc(params, func(p generable.Field) bool { return !p.Optional && !p.Omit }):
			return s.eval(":run", name+"()", s.checked, nil)
		case len(params) == 1 && !strings.HasPrefix(input, "{"): // the only argument, in the form that run takes
			takes = params[0].Type
			asText = takes.AcceptsText()
		case input == "":
			names := text.Each(params, func(p generable.Field) string { return p.Name })
			return s.wrong(":run "+name+" {"+strconv.Quote(names[0])+": …}", ":run %s takes %s as JSON, and got no input", name, strings.Join(names, ", "))
		}
	}
	switch what := "TEXT"; {
	case input == "":
		if !asText {
			what = takes.String() + " as JSON"
		}
		return s.wrong(":run "+name+" INPUT", ":run %s takes %s, and got no input", name, strings.Replace(what, "TEXT", "a text", 1))
	case asText:
	case !json.Valid([]byte(input)):
		if takes == nil {
			what = "its arguments"
		} else {
			what = takes.String()
		}
		return s.wrong(":run "+name+" JSON", ":run %s takes %s as JSON, and got %s", name, what, text.Quote(input))
	case takes == nil:
		arg = "**json.decode(" + arg + ")"
	default:
		arg = "json.decode(" + arg + ")"
	}
	return s.eval(":run", name+"("+arg+")", s.checked, nil)
}

// replay repeats the last run from its record. It shows the result, and binds no name to it.
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
	defer func() { s.spent = spent }() // no model was called
	block := s.last.block
	result, said, err := s.follow(ctx, block, append(opts, agentscript.RunLimits(s.flags.Limits(s.own))))
	if err != nil {
		return err
	}
	if !said && !result.IsNull() {
		shown := valueText(result, s.width())
		if values, ok := result.AsMap(); ok && !block.IsValue() {
			var bound []string
			for i := range values.Len() {
				name, v := values.At(i)
				bound = append(bound, name+" = "+literal(v))
			}
			shown = strings.Join(bound, "\n")
		}
		if err := s.print(shown); err != nil {
			return err
		}
	}
	if changes := diff.Diff("the run", []byte(double.Lines(s.last.result)+"\n"), "its replay", []byte(double.Lines(result)+"\n")); changes != nil {
		_, shown, _ := strings.Cut(string(changes), "\n")
		return s.say("no model was asked, and the result differs from that of the run:\n" + strings.TrimRight(shown, "\n"))
	}
	return s.say("no model was asked, and the result is that of the run")
}

// offer is a fix of the last entry that failed.
type offer struct {
	source string
	fix    diag.Fix
}

// offer keeps the first fix among the findings.
func (s *session) offer(source string, found diag.List) {
	s.offered = nil
	for _, d := range found {
		if len(d.Fixes) > 0 {
			s.offered = &offer{source, d.Fixes[0]}
			return
		}
	}
}

// fix enters the failed entry again, with its fix applied.
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
