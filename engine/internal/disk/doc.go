// Package disk is what stores in files share: a lock that ends with its process, and writing so that
// a reader finds the old content or the new.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrBusy means that somebody else has a lock.
var ErrBusy = errors.New("locked")

// Replace puts data in the place of what the file at path held, on disk when it returns, and readable
// by its owner alone. It is written at half first. Whoever writes has a lock, so that one name does
// for what is half written, and a process that was killed leaves no more than the next write takes.
func Replace(path, half string, data []byte) error {
	// What a killed process left is removed and not opened: it may have become a pipe or a link.
	if err := Ignoring(os.Remove(half), fs.ErrNotExist); err != nil {
		return err
	}
	f, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	hold(f) // so that no other process sweeps it
	if _, err = f.Write(data); err == nil {
		err = Finish(f, func() error { return os.Rename(half, path) })
	} else {
		_ = f.Close() // it is removed
	}
	if err != nil {
		return errors.Join(err, Ignoring(os.Remove(half), fs.ErrNotExist))
	}
	return SyncDir(filepath.Dir(path))
}

// ReadRegular reads a regular file. Anything else is an error, since reading a pipe, say, could block.
func ReadRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Ignoring is err, and nil where it is what.
func Ignoring(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}
