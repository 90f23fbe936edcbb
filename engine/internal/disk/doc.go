// Package disk contains what file stores share: a lock that ends with its process, and atomic writing: a reader finds
// the old content or the new.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrBusy means that another process or file handle has the lock.
var ErrBusy = errors.New("locked")

// Replace replaces the content of the file at path with data, synced to disk, and readable only by the owner. It first
// writes the file half. The caller must hold a lock, so that one name suffices for unfinished files, and a killed
// process leaves no more than one, which the next write removes.
func Replace(path, half string, data []byte) error {
	// An unfinished file of a killed process is removed, not opened: it may have become a pipe or a link.
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
		_ = f.Close() // it is removed below
	}
	if err != nil {
		return errors.Join(err, Ignoring(os.Remove(half), fs.ErrNotExist))
	}
	return SyncDir(filepath.Dir(path))
}

// ReadRegular reads a regular file. Anything else is an error, since reading a pipe, for example, could block.
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

// Ignoring returns err, or nil if err is what.
func Ignoring(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}
