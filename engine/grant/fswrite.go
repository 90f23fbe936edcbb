package grant

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// write writes a new file beside the old one and puts it in its place, so that a reader and a
// crash meet the old text or the new one.
func (f *filing) write() *engine.Error {
	text := f.a.str("text")
	if len(text) > maxWrite {
		return failed(diag.TouchTooBig, "fs.write: the text has %d bytes, more than %d", len(text), maxWrite)
	}
	mode := fs.FileMode(0o644)
	switch info, err := f.m.root.Lstat(f.rel); {
	case errors.Is(err, fs.ErrNotExist):
		if err := f.m.root.MkdirAll(path.Dir(f.rel), 0o755); err != nil {
			return f.wrong(err)
		}
	case err != nil:
		return f.wrong(err)
	case !info.Mode().IsRegular():
		return failed(diag.TouchRefused, "fs.write: %q is there and no file but a directory, a symbolic link, a pipe or a device", f.path)
	default:
		mode = info.Mode().Perm()
	}
	beside := path.Join(path.Dir(f.rel), ".agentscript-"+rand.Text()+".tmp")
	if err := f.fill(beside, text, mode); err != nil {
		f.m.root.Remove(beside) // it may not be there
		return f.wrong(err)
	}
	if err := f.m.root.Rename(beside, f.rel); err != nil {
		f.m.root.Remove(beside)
		return f.wrong(err)
	}
	return nil
}

func (f *filing) fill(name, text string, mode fs.FileMode) error {
	file, err := f.m.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Sync(), file.Close())
}

// remove removes a file or an empty directory. One that is not there was removed.
func (f *filing) remove() *engine.Error {
	if f.rel == "." {
		return failed(diag.TouchRefused, "fs.remove: %q is the granted directory itself", f.path)
	}
	if err := f.m.root.Remove(f.rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.wrong(err)
	}
	return nil
}
