package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/temporal/blob"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// All stores of blobs behave alike: what was put is there, complete, for everyone that opens the same store, and what
// was not put is [blob.ErrGone].
func TestStores(t *testing.T) {
	dir := t.TempDir()
	for name, two := range map[string][2]blob.Store{
		"directory": {blob.Dir(filepath.Join(dir, "blobs")), blob.Dir(filepath.Join(dir, "blobs"))},
		"file":      {open(t, filepath.Join(dir, "some #blobs?.db")), open(t, filepath.Join(dir, "some #blobs?.db"))},
	} {
		t.Run(name, func(t *testing.T) {
			one, other := two[0], two[1]
			if _, err := one.Get(t.Context(), "ab00"); !errors.Is(err, blob.ErrGone) {
				t.Errorf("what is not there: %v", err)
			}
			large := bytes.Repeat([]byte("0123456789abcdef"), 3<<16)
			for key, data := range map[string][]byte{"ab01": []byte("text"), "ab02": {}, "c": {0, 255, 0}, "ab03": large} {
				for range 2 {
					if err := one.Put(t.Context(), key, data); err != nil {
						t.Fatal(err)
					}
				}
				if got, err := other.Get(t.Context(), key); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%s: %d bytes, want %d, %v", key, len(got), len(data), err)
				}
			}
			var all sync.WaitGroup
			for i := range 40 {
				all.Go(func() {
					key, data := fmt.Sprintf("dd%02d", i/4), bytes.Repeat([]byte{byte(i / 4)}, 100_000)
					if err := two[i%2].Put(t.Context(), key, data); err != nil {
						t.Error(err)
					}
					if got, err := two[(i+1)%2].Get(t.Context(), key); err != nil || !bytes.Equal(got, data) {
						t.Errorf("%s: %d bytes, %v", key, len(got), err)
					}
				})
			}
			all.Wait()
		})
	}
}

// A blob that is put again counts as new, so that rows can be removed by their age, and nobody else can read the file.
func TestPutAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "blobs.db")
	s := open(t, path)
	put := func() {
		t.Helper()
		if err := s.Put(t.Context(), "ab12", []byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	put()
	if _, err := s.db.Exec(`UPDATE blobs SET used = used - 172800`); err != nil {
		t.Fatal(err)
	}
	put()
	var used int64
	if err := s.db.QueryRow(`SELECT used FROM blobs`).Scan(&used); err != nil || time.Since(time.Unix(used, 0)) > time.Hour {
		t.Errorf("used %d, %v", used, err)
	}
	if is, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && is.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", is.Mode(), err)
	}
}

// A file that is not a database is an error that names it.
func TestNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "blobs.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil {
		t.Error("it is opened")
	}
	if _, err := Open(filepath.Join(path, "below")); err == nil {
		t.Error("a file in a file is opened")
	}
}
