// Package output writes results and reports to files, atomically.
package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// File is the destination of a text. An existing file keeps its content until the result is complete.
type File struct {
	flag string   // the flag that names it
	path string   // path of the file itself if a link was named
	name string   // name as given
	made *os.File // a temporary file next to it; for a device or pipe, that file itself
	at   bool     // made is the destination itself
}

// Create prepares to write the file that a flag names, so that problems are reported before the run. The file must be
// none of others.
func Create(flag, name string, others ...string) (*File, *term.Failure) {
	if name == "-" {
		return nil, term.Usagef("name a file", "%s - names no file", flag)
	}
	f := &File{flag: flag, path: name, name: name}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, term.Usagef("name a file in it", "%s %s: is a directory", flag, name)
	case err == nil:
		for _, other := range others {
			if is, err := os.Stat(other); other != "" && err == nil && os.SameFile(info, is) {
				return nil, term.Usagef("", "%s %s would overwrite %s", flag, name, other)
			}
		}
		// A device, a pipe, or the target of /dev/stdout must be written in place.
		if !info.Mode().IsRegular() || strings.HasPrefix(name, "/dev/") {
			f.at = true
			if f.made, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0); err != nil {
				return nil, term.Usagef("", "%s %s: %s", flag, name, term.FileProblem(err))
			}
			return f, nil
		}
		if f.path, err = filepath.EvalSymlinks(name); err != nil {
			return nil, term.Usagef("", "%s %s: %s", flag, name, term.FileProblem(err))
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, term.Usagef("", "%s %s: %s", flag, name, term.FileProblem(err))
	}
	mode := fs.FileMode(0o666)
	if info != nil {
		if mode = info.Mode().Perm(); mode&0o200 == 0 {
			return nil, term.Usagef("", "%s %s: permission denied", flag, name)
		}
	}
	for n := 0; ; n++ {
		f.made, err = os.OpenFile(fmt.Sprintf("%s.%d-%d.new", f.path, os.Getpid(), n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, term.Usagef("make it first, or write elsewhere", "%s %s: there is no directory %s", flag, name, filepath.Dir(name))
		case !errors.Is(err, fs.ErrExist) || n > 100:
			return nil, term.Usagef("", "%s %s: %s", flag, name, term.FileProblem(err))
		}
	}
}

// Write replaces the file with a text.
func (f *File) Write(text string) error {
	_, err := f.made.WriteString(text)
	if !f.at && err == nil {
		err = f.made.Sync()
	}
	if closing := f.made.Close(); err == nil {
		err = closing
	}
	if !f.at && err == nil {
		err = os.Rename(f.made.Name(), f.path)
	}
	if err != nil {
		f.Abandon()
		return &term.Failure{Code: term.ExitFailed, Found: term.Usagef("", "the result could not be written: %s %s: %s", f.flag, f.name, term.FileProblem(err)).Found}
	}
	f.made = nil
	return nil
}

// Abandon leaves the destination unchanged, unless it was written. A nil File has none.
func (f *File) Abandon() {
	if f == nil || f.made == nil {
		return
	}
	_ = f.made.Close() // it may be closed already
	if !f.at {
		_ = os.Remove(f.made.Name())
	}
	f.made = nil
}
