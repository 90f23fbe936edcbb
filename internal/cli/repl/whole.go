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

// shown returns the path of a file in positions.
func shown(file string) string { return filepath.ToSlash(filepath.Clean(file)) }

// whole checks a file as the verb check does, independently of the session, and reports the findings. It ignores what
// the prompt allows: calling nodes outside of functions, and using names of the session. A returned error ends a pipe.
func (s *session) whole(file string) error {
	around, problem := s.flags.Around(s.c, s.ports)
	if problem != nil {
		return s.fail(problem)
	}
	ctx, stop := s.c.Interruptible()
	defer stop()
	s.c.Reloaded = true // its statements will print again
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

// unsaid returns the findings in a statement that were not reported for its file as a whole.
func (s *session) unsaid(found diag.List) diag.List {
	return slices.DeleteFunc(plain(found), func(d *diag.Diagnostic) bool {
		return slices.ContainsFunc(s.said, func(o *diag.Diagnostic) bool {
			return o.Code == d.Code && o.Message == d.Message && o.Span == d.Span
		})
	})
}

// unfit returns flaws of the session's statements that loading does not detect.
func (s *session) unfit(m *agentscript.Module) diag.List {
	around, problem := s.flags.Around(s.c, s.ports)
	if problem != nil { // a run reports the reason
		return nil
	}
	return around.Unfit(m)
}
