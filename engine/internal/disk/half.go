package disk

import (
	"errors"
	"os"
	"strings"
)

// Create makes a new file that is going to be renamed or removed by whoever writes it. Until it is closed
// [Sweep] leaves it alone.
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

// Finish syncs and closes a file that was made by [Create], or like it, and renames it between the two where it is
// held by being open.
func Finish(f *os.File, rename func() error) error {
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return finish(f, rename)
}

// Sweep removes a file that was made by [Create], or like it, unless whoever writes it still does. It reports
// whether the file was removed.
func Sweep(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return sweep(dir, name)
}

// SweepAll sweeps the files in a directory whose names end so. What cannot be looked at is left: nothing depends
// on it.
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
