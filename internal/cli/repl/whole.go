package repl

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// shown is the path of a file as positions carry it.
func shown(file string) string { return filepath.ToSlash(filepath.Clean(file)) }

// whole checks a file as check does, apart from the session, and reports what it finds. Left out is what the prompt
// can do: call nodes outside of functions, and use names of the session. The error ends a pipe.
func (s *session) whole(file string) error {
	around, problem := s.flags.Around(s.c, s.ports)
	if problem != nil {
		return s.fail(problem)
	}
	ctx, stop := s.c.Interruptible()
	defer stop()
	s.c.Reloaded = true // what it prints is printed by its statements
	defer func() { s.c.Reloaded = false }()
	loaded := s.options
	if setup.IsFlow(file) {
		flowing, problem := s.flags.Flow.Option(file, 0)
		if problem != nil {
			return s.fail(problem)
		}
		loaded = append(slices.Clone(loaded), flowing)
	}
	_, found, sources, err := setup.Findings(s.c, ctx, file, s.flags.Root, around, loaded...)
	if err != nil {
		return s.fail(err)
	}
	names := s.ws.Module().Names()
	s.said = slices.DeleteFunc(slices.Clone(found), func(d *diag.Diagnostic) bool {
		name, undefined := strings.CutPrefix(d.Message, "undefined: ")
		return d.Code == diag.CalledWhileComposing || undefined && slices.Contains(names, name)
	})
	if s.said.HasErrors() && !s.in.interactive() {
		return &term.Failure{Code: term.ExitFailed, Found: s.said, Sources: sources}
	}
	s.c.Report(s.said, sources)
	return nil
}

// unsaid returns what is found in a statement, but for what was said of its file as a whole.
func (s *session) unsaid(found diag.List) diag.List {
	return slices.DeleteFunc(plain(found), func(d *diag.Diagnostic) bool {
		return slices.ContainsFunc(s.said, func(o *diag.Diagnostic) bool {
			return o.Code == d.Code && o.Message == d.Message && o.Span == d.Span
		})
	})
}

// unfit returns what is wrong with the session's statements that loading does not see.
func (s *session) unfit(m *agentscript.Module) diag.List {
	around, problem := s.flags.Around(s.c, s.ports)
	if problem != nil { // what runs says why
		return nil
	}
	return around.Unfit(m)
}
