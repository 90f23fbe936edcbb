package script

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// The bounds on the size of files, unless the host sets others.
const (
	DefaultMaxSource = 1 << 20  // for the script and the files it loads
	DefaultMaxFile   = 64 << 20 // for the files it reads
)

// Disk is where the files of a script are.
type Disk struct {
	FS    fs.FS
	Entry string // the path of the entry script
	Dir   string // prefix of file names in positions
	Root  string // the directory that load and file cannot leave; "" is the entry script's directory
	Max   int64  // bytes of a file that is read; 0 is [DefaultMaxFile]

	MaxSource int64 // bytes of a script file; 0 is [DefaultMaxSource]

	Hide func(text string) string // removes secrets from what a script reads; nil: none is known
}

// Text returns the text of a file as a script that reads it gets it.
func (d *Disk) Text(content string) string {
	if d.Hide == nil {
		return content
	}
	return d.Hide(content)
}

// unfitError is the reason why an existing file is not read.
type unfitError struct{ what, help string }

func (e *unfitError) Error() string { return e.what }

// Read reads a file that a script names. It does not open pipes and devices: they may be endless, and block the reader
// beyond all limits.
func (c *State) Read(p string) ([]byte, error) {
	if err := c.regular(p); err != nil {
		return nil, err
	}
	return c.readAll(p, c.Disk.Max, DefaultMaxFile, "pass a part of it, or have a tool read it")
}

// ReadLoaded reads a file that a script loads.
func (c *State) ReadLoaded(p string) ([]byte, error) {
	if err := c.regular(p); err != nil {
		return nil, err
	}
	return c.ReadSource(p)
}

// ReadSource reads a script.
func (c *State) ReadSource(p string) ([]byte, error) {
	return c.readAll(p, c.Disk.MaxSource, DefaultMaxSource, largeSource)
}

const largeSource = "divide it into files that load each other, and keep data in files that it reads; a host may allow more"

// Fits rejects a script with too many bytes.
func (d *Disk) Fits(size int64) error {
	most := cmp.Or(max(0, d.MaxSource), DefaultMaxSource)
	if size > most {
		return &unfitError{fmt.Sprintf("it has more than %d bytes", most), largeSource}
	}
	return nil
}

// regular rejects anything but regular files.
func (c *State) regular(p string) error {
	if c.Disk.FS == nil {
		return &unfitError{"the script was loaded without any files", "pass the text as an argument of the run"}
	}
	info, err := fs.Stat(c.Disk.FS, p)
	if err != nil {
		return err
	}
	if mode := info.Mode(); !mode.IsRegular() {
		what := "a device or a pipe"
		if mode.IsDir() {
			what = "a directory"
		}
		return &unfitError{"it is not a regular file but " + what, "name a file, or pass the text as an argument of the run"}
	}
	return nil
}

// readAll reads a file up to a limit. It does not read a file whose stated size is larger.
func (c *State) readAll(p string, most, usual int64, help string) ([]byte, error) {
	if most <= 0 {
		most = usual
	}
	f, err := c.Disk.FS.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it is only read
	var data bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if info.Size() > most {
			return nil, &unfitError{fmt.Sprintf("it has more than %d bytes", most), help}
		}
		data.Grow(int(info.Size()) + bytes.MinRead)
	}
	_, err = data.ReadFrom(io.LimitReader(f, most+1))
	if err == nil && int64(data.Len()) > most {
		return nil, &unfitError{fmt.Sprintf("it has more than %d bytes", most), help}
	}
	return data.Bytes(), err
}

// ReadHelp says what to do about a file that could not be read.
func (c *State) ReadHelp(p string, err error) []string {
	if help := UnfitHelp(err); help != nil {
		return help
	}
	return c.nearFiles(p)
}

// UnfitHelp says what to do about an existing file that was rejected. It returns nil for any other error.
func UnfitHelp(err error) []string {
	if unfit, ok := errors.AsType[*unfitError](err); ok {
		return []string{unfit.help}
	}
	return nil
}

// ReadReason describes what is wrong with a file, without its name.
func ReadReason(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}

// Resolve finds the path in FS of the file that a file refers to by name. It never leaves the root, not even through
// symbolic links.
func (c *State) Resolve(from *Unit, name string, at diag.Span) (string, *diag.Diagnostic) {
	root, whose, where := path.Dir(path.Clean(c.Disk.Entry)), "the script's directory", "what is in the entry script's directory or below"
	if c.Disk.Root != "" {
		root, whose, where = path.Clean(c.Disk.Root), "the root directory", "what is in the root directory or below"
	}
	outside := func(remedy, format string, args ...any) (string, *diag.Diagnostic) {
		return "", &diag.Diagnostic{Code: diag.OutsideDirectory, Span: at, Message: fmt.Sprintf(format, args...),
			Help: []string{"load and file read " + where + "; " + remedy + ", or pass its content as an argument of the run"}}
	}
	const copied = "copy the file there"
	const wider = copied + ", name a directory above both with --root"
	switch {
	case name == "":
		return "", &diag.Diagnostic{Code: diag.FileMissing, Span: at, Message: "the path is empty",
			Help: []string{"name a file next to this one or below: \"docs/style.md\""}}
	case strings.HasPrefix(name, "/") || len(name) > 1 && name[1] == ':':
		return outside(copied, "%q is an absolute path", name)
	case strings.ContainsRune(name, '\\'):
		return "", &diag.Diagnostic{Code: diag.FileMissing, Span: at, Message: fmt.Sprintf("%q has a backslash", name),
			Help: []string{"paths use / everywhere: " + strings.ReplaceAll(name, `\`, "/")}}
	}
	p := path.Join(path.Dir(from.Path), name)
	if !within(root, p) {
		return outside(wider, "%q leads out of %s", name, whose)
	}
	if c.Disk.FS == nil {
		return p, nil
	}
	real, err := c.follow(p)
	if err != nil || !within(root, real) {
		return outside(wider, "%q leads out of %s through a symbolic link", name, whose)
	}
	if real != p {
		c.Links[p] = true
	}
	return real, nil
}

func within(root, p string) bool {
	if !fs.ValidPath(p) {
		return false
	}
	return root == "." || p == root || strings.HasPrefix(p, root+"/")
}

var errLink = errors.New("the link leads out of the file system")

// follow resolves symbolic links, if the file system supports them.
func (c *State) follow(p string) (string, error) {
	for range 40 {
		parts := strings.Split(p, "/")
		linked := false
		for i := range parts {
			prefix := path.Join(parts[:i+1]...)
			info, err := fs.Lstat(c.Disk.FS, prefix)
			if err != nil {
				return p, nil // reading the file reports it
			}
			if info.Mode()&fs.ModeSymlink == 0 {
				continue
			}
			target, err := fs.ReadLink(c.Disk.FS, prefix)
			if err != nil || path.IsAbs(target) {
				return "", errLink
			}
			p = path.Join(append([]string{path.Dir(prefix), target}, parts[i+1:]...)...)
			if !fs.ValidPath(p) {
				return "", errLink
			}
			linked = true
			break
		}
		if !linked {
			return p, nil
		}
	}
	return "", errLink
}

// nearFiles suggests a file with a similar name in the same directory.
func (c *State) nearFiles(p string) []string {
	entries, err := fs.ReadDir(c.Disk.FS, path.Dir(p))
	if err != nil {
		return []string{"paths are relative to the file that names them"}
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if hint := c.Suggest(path.Base(p), names); hint != "" {
		return []string{hint}
	}
	return []string{"paths are relative to the file that names them"}
}
