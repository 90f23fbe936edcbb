package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Session is a verb that runs again whenever a file changes, with the state that its runs share.
type Session struct {
	c      *term.Console
	memory *Memory
	stdin  string              // each run reads it from its beginning
	known  map[string][]string // the files of each script at its last load
	roots  map[string]string   // the directories of scripts that are not loaded
	others []string            // files that flags name

	Again func() bool   // reports whether to run although no file has changed; may be nil
	Hint  func() string // returns a text for the line about what is watched; may be nil
}

// New returns a session that watches some scripts.
func New(c *term.Console, scripts ...string) *Session {
	s := &Session{c: c, known: map[string][]string{}, roots: map[string]string{}}
	for _, file := range scripts {
		s.known[file] = []string{file}
	}
	return s
}

// Run runs a verb whenever a file changes, until ctx ends. Each run declares what it loads with [Session.Loads] and
// [Session.Loaded], and returns its error, which is reported.
func (s *Session) Run(ctx context.Context, verb func(ctx context.Context) error) error {
	if s.c.StdinPiped {
		all, err := io.ReadAll(s.c.Stdin)
		if err != nil {
			return term.Usagef("", "stdin: %s", term.FileProblem(err))
		}
		s.stdin = string(all)
	}
	first, hint := true, ""
	Loop(ctx, s.files, s.Again, func(ctx context.Context) {
		if s.c.StdinPiped {
			s.c.Stdin = strings.NewReader(s.stdin)
		}
		if s.c.Parsed, s.c.Reloaded = nil, false; !first && s.memory != nil {
			s.memory.Edited()
		}
		s.others = nil
		if err := verb(ctx); ctx.Err() == nil {
			s.report(err)
		}
		if first = false; ctx.Err() == nil && !s.c.JSON {
			if s.Hint != nil {
				hint = s.Hint()
			}
			_, _ = fmt.Fprintf(s.c.Stderr, "watching %s, Ctrl-C ends it%s\n", text.Count(s.count(), "file"), hint) // if stderr fails, there is nowhere to report it
		}
	})
	return &term.Failure{Code: term.ExitInterrupted}
}

// report reports the error of a run.
func (s *Session) report(err error) {
	if err == nil {
		return
	}
	if f, ok := errors.AsType[*term.Failure](err); ok {
		s.c.Report(f.Found, f.Sources)
		return
	}
	s.c.Report(term.Usagef("", "%v", err).Found, nil)
}

// files lists what the verb depends on, as far as that is known.
func (s *Session) files() []string {
	all := slices.Clone(s.others)
	for _, files := range s.known {
		all = append(all, files...)
	}
	for _, root := range s.roots {
		all = append(all, below(root)...)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), s.written)
}

// written reports whether the command itself writes a file, for example a log next to the script.
func (s *Session) written(path string) bool {
	for _, w := range []io.Writer{s.c.Stdout, s.c.Stderr} {
		if f, ok := w.(interface{ Stat() (fs.FileInfo, error) }); ok {
			out, err := f.Stat()
			file, wrong := os.Stat(path)
			if err == nil && wrong == nil && os.SameFile(out, file) {
				return true
			}
		}
	}
	return false
}

// count returns the number of files that the verb depends on, each counted once.
func (s *Session) count() int {
	seen := map[string]bool{}
	for _, path := range s.files() {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			seen[filepath.Clean(path)] = true
		}
	}
	return len(seen)
}

// Loads declares that a script is about to be loaded, and which other files the run reads. Until the script is loaded,
// everything in and below its directory counts.
func (s *Session) Loads(file string, others ...string) {
	if s == nil {
		return
	}
	s.roots[file] = filepath.Dir(file)
	for _, path := range others {
		if path != "" && path != "-" {
			s.others = append(s.others, path)
		}
	}
}

// Loaded declares that a script was loaded with a root, "" for its directory.
func (s *Session) Loaded(root, file string, m *agentscript.Module) {
	if s == nil || m == nil {
		return
	}
	delete(s.roots, file)
	if root == "" {
		root = filepath.Dir(file)
	}
	s.known[file] = []string{file}
	for _, name := range slices.Concat(m.Files(), m.Links()) {
		s.known[file] = append(s.known[file], filepath.Join(root, filepath.FromSlash(name)))
	}
}

// FilesOf returns the files of the last load of a script, and those that it read.
func (s *Session) FilesOf(script string) []string { return s.known[script] }

// Remembering makes the runs of a session answer effects from each other; see [NewMemory].
func (s *Session) Remembering(prepared bool) {
	if s != nil && s.memory == nil {
		s.memory = NewMemory(prepared, s.c.Approver(false))
	}
}

// Load returns the load option that keeps an edit from running again what must not run twice.
func (s *Session) Load() agentscript.Option {
	if s == nil || s.memory == nil {
		return nil
	}
	return agentscript.WithMiddleware(s.memory.Around)
}

// Start returns the options of a run that answers effects from earlier runs. It draws the same numbers and ids as they
// did, so that requests that contain these are the same.
func (s *Session) Start() []agentscript.RunOption {
	if s == nil || s.memory == nil {
		return nil
	}
	opts := []agentscript.RunOption{agentscript.RunJournal(s.memory.Journal())}
	if !s.memory.journal.prepared { // otherwise it is the same every time
		opts = append(opts, agentscript.Seed(s.memory.seed))
	}
	return opts
}
