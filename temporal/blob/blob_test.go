package blob

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A blob that is put again counts as new, so that files can be removed by their age.
func TestPutAgain(t *testing.T) {
	dir := t.TempDir()
	s := Dir(dir)
	put := func() {
		t.Helper()
		if err := s.Put(t.Context(), "ab12", []byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	put()
	path := filepath.Join(dir, "ab", "ab12")
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	put()
	is, err := os.Stat(path)
	if err != nil || time.Since(is.ModTime()) > time.Hour {
		t.Errorf("written %v, %v", is.ModTime(), err)
	}
}
