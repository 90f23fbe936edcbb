//go:build unix

package store_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// TestPipeInTheStore: what is no regular file is never read, which could keep the call waiting, and
// hides no session.
func TestPipeInTheStore(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, "files", dir)
	closed(t, taken(t, s, "one"))
	if err := syscall.Mkfifo(filepath.Join(dir, "sessions", "p-00000000.session"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := s.Sessions(t.Context())
	if !is(err, diag.StoreFailed) || !strings.Contains(err.Error(), "p-00000000.session is no regular file") || len(all) != 1 || all[0].ID != "one" {
		t.Errorf("%+v, %v", all, err)
	}
}
