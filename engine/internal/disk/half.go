package disk

import (
	"errors"
	"os"
	"strings"
)

// Create makes a new file that its writer will rename or remove. Until it is closed, [Sweep] leaves it alone.
func Create(dir *os.Root, name string, mode os.FileMode) (*os.File, error) {
	for {
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil || hold(f) {
			return f, err
		}
		_ = f.Close() // it is being swept
		_ = dir.Remove(name)
	}
}

// Finish syncs and closes a file made by [Create], or one like it, and renames it: before closing where an open file is
// protected from sweeping.
func Finish(f *os.File, rename func() error) error {
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return finish(f, rename)
}

// Sweep removes a file made by [Create], or one like it, unless its writer still has it open. It reports whether it
// removed the file.
func Sweep(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return sweep(dir, name)
}

// SweepAll sweeps the files in a directory whose names end in suffix. It skips what it cannot read: nothing depends on
// it.
func SweepAll(path, suffix string) {
	dir, err := os.OpenRoot(path)
	if err != nil {
		return
	}
	defer dir.Close()
	list, err := dir.Open(".")
	if err != nil {
		return
	}
	defer list.Close()
	for err == nil {
		var names []string
		names, err = list.Readdirnames(1000)
		for _, name := range names {
			if strings.HasSuffix(name, suffix) {
				Sweep(dir, name)
			}
		}
	}
}
