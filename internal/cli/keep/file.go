package keep

import (
	"context"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// file is a run that is read from a file.
type file struct {
	engine.Store // holds only this run
	path         string
}

// Read makes the store read a run from a file that holds it.
func (s *Store) Read(run, path string, from engine.Store) {
	if s.files == nil {
		s.files = map[string]file{}
	}
	s.files[run] = file{from, path}
}

// IsFile reports whether a run is read from a file.
func (s *Store) IsFile(run string) bool { return s.files[run].Store != nil }

// holder returns the store from which a run is read.
func (s *Store) holder(ctx context.Context, run string) (engine.Store, error) {
	if f := s.files[run]; f.Store != nil {
		return f, nil
	}
	return s.opened(ctx)
}

// word returns what represents a run in a command.
func (s *Store) word(run string) string {
	if f := s.files[run]; f.path != "" {
		return text.ShellWord(f.path)
	}
	return run
}
