package sqlite_test

import (
	"testing"

	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// open opens a store in a file. The store is closed when the test ends.
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
