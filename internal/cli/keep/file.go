package keep

import (
	"context"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// file is a run that is read from a file.
type file struct {
	engine.Store // holds the run alone
	path         string
}

// Read has a run be read from elsewhere than the store, where a file holds it.
func (s *Store) Read(run, path string, from engine.Store) {
	if s.files == nil {
		s.files = map[string]file{}
	}
	s.files[run] = file{from, path}
}

// IsFile reports whether a run is read from a file.
func (s *Store) IsFile(run string) bool { return s.files[run].Store != nil }

// holder returns what a run is read from.
func (s *Store) holder(ctx context.Context, run string) (engine.Store, error) {
	if f := s.files[run]; f.Store != nil {
		return f, nil
	}
	return s.opened(ctx)
}

// word is what stands for a run in a command.
func (s *Store) word(run string) string {
	if f := s.files[run]; f.path != "" {
		return text.ShellWord(f.path)
	}
	return run
}
