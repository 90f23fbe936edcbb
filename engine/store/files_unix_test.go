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

// TestPipeInTheWay: a pipe under the name of what is half written keeps no save waiting.
func TestPipeInTheWay(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, "files", dir)
	held := taken(t, s, "one")
	written, err := filepath.Glob(filepath.Join(dir, "sessions", "*.session"))
	if err != nil || len(written) != 1 {
		t.Fatalf("%q, %v", written, err)
	}
	if err := syscall.Mkfifo(written[0]+".new", 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := syscall.Open(written[0]+".new", syscall.O_RDONLY|syscall.O_NONBLOCK, 0) // so that writing to it would not wait
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(reader)
	if _, err := held.Save(t.Context(), "k", "op", "text"); err != nil {
		t.Error(err)
	}
	closed(t, held)
	if entries, err := s.ReadSession(t.Context(), "one"); err != nil || entries["k"].Text != "text" {
		t.Errorf("%v, %v", entries, err)
	}
}
