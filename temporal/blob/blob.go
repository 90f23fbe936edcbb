// Package blob keeps what is too large for the history of a run, by the hash of what it is: of values and scripts.
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

// Store keeps blobs where all workers reach them. It is safe for concurrent use. A blob never changes, so that one that is
// there need not be written again. The keys are lower-case hexadecimal.
type Store interface {
	// Put keeps a blob under its key.
	Put(ctx context.Context, key string, data []byte) error
	// Get returns a blob; for one that is not there an error that is [ErrGone].
	Get(ctx context.Context, key string) ([]byte, error)
}

// ErrGone is the error for a blob that is not in its store. A run that needs one fails; other errors are tried again.
var ErrGone = &engine.Error{Kind: engine.KindStore, Code: diag.BlobGone}

// Gone returns the error of [Store] for a blob that is not there.
func Gone(key string) error {
	return engine.Errorf(engine.KindStore, diag.BlobGone, "the blob %s is not in the store of blobs", key).
		WithHelp("all workers and clients need the same store, which keeps blobs as long as the server keeps histories")
}

type dir string

// Dir returns a store in a directory, which is made when something is put.
func Dir(path string) Store { return dir(path) }

func (d dir) path(key string) string { return filepath.Join(string(d), key[:min(2, len(key))], key) }

// Put implements [Store]. What is there is whole: a file gets its name once it is written.
func (d dir) Put(_ context.Context, key string, data []byte) error {
	path := d.path(key)
	if is, err := os.Stat(path); err == nil && is.Size() == int64(len(data)) {
		_ = os.Chtimes(path, time.Time{}, time.Now()) // it is in use, for those that remove old files; one may only read here
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
