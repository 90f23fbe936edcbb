//go:build unix

package sqlite_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestImportPipe: a file that is not regular is never read, which could block the call, and does not hide any
// session.
func TestImportPipe(t *testing.T) {
	dir := t.TempDir()
	keepAsFile(t, dir, "one", "first")
	if err := syscall.Mkfifo(filepath.Join(dir, "p-00000000.session"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "runs.db"))
	if n, err := s.ImportSessions(t.Context(), dir); n != 1 || err == nil || !strings.Contains(err.Error(), "p-00000000.session is no regular file") {
		t.Errorf("%d, %v", n, err)
	}
}
