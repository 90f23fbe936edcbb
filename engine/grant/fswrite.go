package grant

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/disk"
)

// write writes a new file next to the old one and renames it into place. A reader sees the old text or the new one,
// also after a crash.
func (f *filing) write() *engine.Error {
	text := f.a.str("text")
	if len(text) > maxWrite {
		return failed(diag.TouchTooBig, "fs.write: the text has %d bytes, more than %d", len(text), maxWrite)
	}
	dir, name, err := f.parent()
	if errors.Is(err, fs.ErrNotExist) {
		if wrong := f.g.refusesAt(f.op, f.path, f.at()); wrong != nil {
			return wrong
		}
		if err = f.m.root.MkdirAll(path.Dir(f.rel), 0o755); err == nil {
			dir, name, err = f.parent()
		}
	}
	if err != nil {
		return f.wrong(err)
	}
	defer dir.Close()
	if wrong := f.refused(dir, name); wrong != nil {
		return wrong
	}
	mode := fs.FileMode(0o644)
	switch info, err := dir.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return f.wrong(err)
	case !info.Mode().IsRegular():
		return failed(diag.TouchRefused, "fs.write: %q is there and no file but a directory, a symbolic link, a pipe or a device", f.path)
	default:
		mode = info.Mode().Perm()
	}
	if err := f.replace(dir, name, text, mode); err != nil {
		return f.wrong(err)
	}
	return nil
}

// parent opens the directory that contains the file: operations apply to the directory that was checked, whatever links
// are replaced on the way to it.
func (f *filing) parent() (dir *os.Root, name string, err error) {
	dir, err = f.m.root.OpenRoot(path.Dir(f.rel))
	return dir, path.Base(f.rel), err
}

// refused returns why the name must not be changed, nil if it may be.
func (f *filing) refused(dir *os.Root, name string) *engine.Error {
	in, err := filepath.EvalSymlinks(filepath.Join(f.m.dir, filepath.FromSlash(path.Dir(f.rel))))
	if err != nil {
		in = "" // it was moved: the open directory counts
	}
	return f.g.refuses(f.op, f.path, dir, name, filepath.Join(in, name))
}

// at returns the path where the file will be: the existing part of its directories with links resolved, followed by the
// rest.
func (f *filing) at() string {
	dir, missing := filepath.Join(f.m.dir, filepath.FromSlash(path.Dir(f.rel))), path.Base(f.rel)
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil || dir == filepath.Dir(dir) {
			return filepath.Join(real, missing)
		}
		dir, missing = filepath.Dir(dir), filepath.Join(filepath.Base(dir), missing)
	}
}

// A file being written has a separate name. A note of that name in the granted directory itself tells the next start
// what a killed process left behind.
const (
	halfPrefix = ".agentscript-"
	halfSuffix = ".tmp" // of the file
	noteSuffix = ".at"  // of the note, which contains the file's path
)

// halfName returns the random part of the name of a file being written, or of its note.
func halfName(name, suffix string) (id string, ok bool) {
	id, ok = strings.CutPrefix(name, halfPrefix)
	id, is := strings.CutSuffix(id, suffix)
	return id, ok && is && len(id) == len(rand.Text()) && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// unfinished reports whether a name is that of a file being written, or of its note.
func unfinished(name string) bool {
	_, half := halfName(name, halfSuffix)
	_, note := halfName(name, noteSuffix)
	return half || note
}

func (f *filing) replace(dir *os.Root, name, text string, mode fs.FileMode) error {
	id := rand.Text()
	half := halfPrefix + id + halfSuffix
	if in := path.Dir(f.rel); in != "." {
		// Without a note, a killed process may leave the file behind.
		if note, err := disk.Create(f.m.root, halfPrefix+id+noteSuffix, 0o600); err == nil {
			_, _ = note.WriteString(path.Join(in, half))
			defer func() {
				_ = f.m.root.Remove(halfPrefix + id + noteSuffix)
				_ = note.Close()
			}()
		}
	}
	file, err := disk.Create(dir, half, mode)
	if err != nil {
		return err
	}
	if _, err = file.WriteString(text); err == nil {
		err = disk.Finish(file, func() error { return dir.Rename(half, name) })
	} else {
		_ = file.Close() // it is removed below
	}
	if err != nil {
		_ = dir.Remove(half) // it may not exist
	}
	return err
}

// sweep removes files that a killed process was writing. It skips what it cannot read: nothing depends on it.
func (m *mount) sweep() {
	dir, err := m.root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(readAtOnce)
		for _, name := range names {
			if _, ok := halfName(name, halfSuffix); ok {
				disk.Sweep(m.root, name)
			}
			if id, ok := halfName(name, noteSuffix); ok {
				if note, err := m.note(name); err == nil && path.Base(note) == halfPrefix+id+halfSuffix {
					disk.Sweep(m.root, note)
				}
				disk.Sweep(m.root, name)
			}
		}
		if err != nil {
			return
		}
	}
}

// note reads the path of a file that was being written.
func (m *mount) note(name string) (string, error) {
	if info, err := m.root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxPath {
		return "", errors.Join(err, fs.ErrInvalid)
	}
	text, err := m.root.ReadFile(name)
	return string(text), err
}

// remove removes a file or an empty directory. It succeeds if the file does not exist.
func (f *filing) remove() *engine.Error {
	if f.rel == "." {
		return failed(diag.TouchRefused, "fs.remove: %q is the granted directory itself", f.path)
	}
	dir, name, err := f.parent()
	if err == nil {
		defer dir.Close()
		if wrong := f.refused(dir, name); wrong != nil {
			return wrong
		}
		err = dir.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.wrong(err)
	}
	return nil
}
