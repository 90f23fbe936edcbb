package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/engine/store/storetest"
)

// open opens a store in a file, and closes it with the test.
func open(t testing.TB, path string, options ...sqlite.Option) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestRuns(t *testing.T) {
	storetest.Run(t, func(t *testing.T) engine.Store { return open(t, filepath.Join(t.TempDir(), "runs.db")) })
}
