package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// sharingViolation is the error for a file that another process has opened exclusively.
const sharingViolation = syscall.Errno(32)

// Lock opens a file that nobody else can open until it is closed, which the end of the process also does.
func Lock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// Held reports whether somebody has the lock at path. known is false if the file does not exist. Many can ask at the
// same time; asking blocks the lock only for a moment.
func Held(path string) (held, known bool) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return false, false
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ, syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE|syscall.FILE_SHARE_DELETE, nil, syscall.OPEN_EXISTING, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err == nil {
		_ = syscall.CloseHandle(h) // nobody has it, whatever this returns
	}
	held = errors.Is(err, sharingViolation)
	return held, held || err == nil
}

// hold does nothing: nobody else can remove an open file.
func hold(*os.File) bool { return true }

// finish closes first: an open file cannot be renamed.
func finish(f *os.File, rename func() error) error {
	return errors.Join(f.Close(), rename())
}

func sweep(dir *os.Root, name string) bool {
	path, err := syscall.UTF16PtrFromString(filepath.Join(dir.Name(), name))
	if err != nil {
		return false
	}
	h, err := syscall.CreateFile(path, syscall.GENERIC_READ, 0, nil, syscall.OPEN_EXISTING, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil { // somebody has it open
		return false
	}
	return syscall.CloseHandle(h) == nil && dir.Remove(name) == nil
}

// SyncDir does nothing: on this system a rename reaches the disk together with the file.
func SyncDir(string) error { return nil }
