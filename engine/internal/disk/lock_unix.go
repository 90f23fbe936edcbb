//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// Lock opens a file that nobody else can open so until it is closed, by whatever ends the process.
func Lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrBusy
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Held reports whether somebody has the lock at path. It is not known where there is no such file, or the file
// system has no locks. Many can ask at the same time; who asks keeps nobody from the lock but for that moment.
func Held(path string) (held, known bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, false
	}
	defer f.Close()
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	held = errors.Is(err, syscall.EWOULDBLOCK)
	return held, held || err == nil
}

// hold locks a file that was made, and reports whether it is still there.
func hold(f *os.File) bool {
	if errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return false
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || s.Nlink > 0
}

// finish renames first: what is closed may be swept.
func finish(f *os.File, rename func() error) error {
	return errors.Join(rename(), f.Close())
}

func sweep(dir *os.Root, name string) bool {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && dir.Remove(name) == nil
}

// SyncDir has the names in a directory on disk.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
