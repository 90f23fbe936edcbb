// Package blob stores values and scripts that are too large for the history of a run, by their hash.
package blob

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Store holds blobs where all workers reach them. It is safe for concurrent use. A blob never changes, so that one that
// exists need not be written again. Keys are lower-case hexadecimal.
type Store interface {
	// Put stores a blob under its key.
	Put(ctx context.Context, key string, data []byte) error
	// Get returns a blob. If it does not exist, the error is [ErrGone].
	Get(ctx context.Context, key string) ([]byte, error)
}

// ErrGone is the error for a blob that is not in its store. A run that needs the blob fails; other errors are retried.
var ErrGone = &engine.Error{Kind: engine.KindStore, Code: diag.BlobGone}

// Gone returns the error of [Store] for a blob that does not exist.
func Gone(key string) error {
	return engine.Errorf(engine.KindStore, diag.BlobGone, "the blob %s is not in the store of blobs", key).
		WithHelp("all workers and clients need the same store, which keeps blobs as long as the server keeps histories")
}

type dir string

// Dir returns a store in a directory. The first Put creates the directory.
func Dir(path string) Store { return dir(path) }

func (d dir) path(key string) string { return filepath.Join(string(d), key[:min(2, len(key))], key) }

// Put implements [Store]. Files are always complete: a file gets its name after it was written.
func (d dir) Put(_ context.Context, key string, data []byte) error {
	path := d.path(key)
	if is, err := os.Stat(path); err == nil && is.Size() == int64(len(data)) {
		_ = os.Chtimes(path, time.Time{}, time.Now()) // it is in use, for programs that remove old files; an error is ignored, as access may be read-only
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Get implements [Store].
func (d dir) Get(_ context.Context, key string) ([]byte, error) {
	data, err := os.ReadFile(d.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Gone(key)
	}
	return data, err
}
