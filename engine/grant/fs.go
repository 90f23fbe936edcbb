package grant

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Access is the kind of access to a directory.
type Access int

// The kinds of access.
const (
	ReadOnly Access = iota
	ReadWrite
)

// FS grants a directory and everything below it. Scripts name it by the path given here, relative to the working
// directory or absolute. Neither .. nor symbolic links lead out of it.
func FS(dir string, access Access) Option { return FSAs(dir, dir, access) }

// FSAs grants a directory under another path: with FSAs("work", "/srv/tenants/7", ReadWrite), scripts call it "work".
func FSAs(as, dir string, access Access) Option {
	return func(g *Grants) error {
		g.mounts = append(g.mounts, &mount{as: as, given: dir, dir: dir, write: access == ReadWrite})
		return nil
	}
}

// mount is a granted directory.
type mount struct {
	as    string // the path for scripts: absolute, with slashes
	given string
	dir   string // absolute
	real  string // the same path with its links resolved
	write bool
	root  *os.Root
}

// open opens the granted directories.
func (g *Grants) open() error {
	for _, m := range g.mounts {
		if !filepath.IsAbs(m.dir) {
			m.dir = filepath.Join(g.base, m.dir)
		}
		m.as = g.absolute(m.as)
		info, err := os.Stat(m.dir)
		switch {
		case err != nil:
			return unusable("the directory %q cannot be granted: %s", m.given, reason(err)).WithHelp("make it first (mkdir -p %s), or name another", text.ShellWord(m.given))
		case !info.IsDir():
			return unusable("%q cannot be granted: it is no directory", m.given).WithHelp("grant the directory that it is in")
		}
		if m.root, err = os.OpenRoot(m.dir); err == nil {
			m.real, err = filepath.EvalSymlinks(m.dir)
		}
		if err != nil {
			return unusable("the directory %q cannot be granted: %s", m.given, reason(err))
		}
		if m.write {
			m.sweep()
		}
	}
	g.guard()
	return nil
}

// absolute returns a script's path in the form in which grants are compared. It does not access the file system.
func (g *Grants) absolute(p string) string {
	p = filepath.ToSlash(p)
	if !path.IsAbs(p) && !filepath.IsAbs(filepath.FromSlash(p)) {
		p = filepath.ToSlash(g.base) + "/" + p
	}
	return path.Clean(p)
}

// find returns the grant that contains a path, and the path relative to it; nil if there is none.
func (g *Grants) find(p string, write bool) (*mount, string) {
	p = g.absolute(p)
	var found *mount
	rel := ""
	for _, m := range g.mounts {
		if write && !m.write || found != nil && len(found.as) >= len(m.as) {
			continue
		}
		if p == m.as {
			found, rel = m, "."
		} else if in, ok := strings.CutPrefix(p, strings.TrimSuffix(m.as, "/")+"/"); ok {
			found, rel = m, in
		}
	}
	return found, rel
}

func (g *Grants) allowsPath(u capability.Use) bool {
	write := u.Writes() && u.Op != ""
	if u.Target == "" {
		return slices.ContainsFunc(g.mounts, func(m *mount) bool { return m.write || !write })
	}
	m, _ := g.find(u.Target, write)
	return m != nil
}

// Limits of file operations.
const (
	maxWrite = 16 << 20
	maxPath  = 4096
	maxDepth = 128
)

// file answers the operations of fs. The operating system may block for any length of time, for example on a network
// file; the call is then abandoned.
func (g *Grants) file(ctx context.Context, op string, a args) engine.Outcome {
	p := a.str("path")
	m, rel := g.find(p, op == "write" || op == "remove")
	switch {
	case m == nil:
		return capability.Ungranted(capability.Use{Kind: engine.EffectFS, Op: op, Target: p})
	case strings.ContainsRune(p, 0), len(p) > maxPath, strings.Count(rel, "/") >= maxDepth:
		return engine.Failed(failed(diag.TouchRefused, "the path is refused: it holds a NUL byte, has more than %d bytes or is more than %d deep", maxPath, maxDepth))
	}
	f := &filing{g: g, m: m, op: op, path: p, rel: rel, a: a}
	ended := make(chan engine.Outcome, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				ended <- engine.Failed(engine.Errorf(engine.KindPanic, diag.Panic, "fs.%s panicked: %v", op, r))
			}
		}()
		ended <- f.do(ctx)
	}()
	select {
	case out := <-ended:
		return out
	case <-ctx.Done():
		return engine.Failed(a.tooSlow(ctx, "fs."+op+" of \""+p+"\""))
	}
}

// filing is one operation on a file.
type filing struct {
	g             *Grants
	m             *mount
	op, path, rel string
	a             args
}

func (f *filing) do(ctx context.Context) engine.Outcome {
	var v generable.Value
	var err *engine.Error
	switch f.op {
	case "read":
		v, err = f.read(redact.SetOf(ctx))
	case "write":
		err = f.write()
	case "list":
		v, err = f.list(ctx)
	case "exists", "stat":
		v, err = f.stat()
	case "remove":
		err = f.remove()
	}
	if err != nil {
		return engine.Failed(err)
	}
	return engine.Outcome{Value: v}
}

// fileError describes an error of the operating system.
func fileError(op, p string, err error) *engine.Error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failed(diag.TouchFailed, "fs.%s: there is no %q", op, p)
	case strings.Contains(err.Error(), "path escapes from parent"):
		return failed(diag.TouchRefused, "fs.%s: %q leads out of the granted directory, through a symbolic link", op, p)
	}
	return failed(diag.TouchFailed, "fs.%s: %q: %s", op, p, reason(err))
}

func (f *filing) wrong(err error) *engine.Error { return fileError(f.op, f.path, err) }

// regular opens a regular file for reading. Pipes and devices are refused: they may have no end, or block when opened.
// So are files that the kernel generates: they describe this process.
func (f *filing) regular() (*os.File, *engine.Error) {
	check := func(info fs.FileInfo) *engine.Error {
		if info.Mode().IsRegular() {
			return nil
		}
		if info.IsDir() {
			return failed(diag.TouchFailed, "fs.%s: %q is a directory", f.op, f.path).WithHelp("fs.list(%q) lists what is in it", f.path)
		}
		return failed(diag.TouchRefused, "fs.%s: %q is no file but a pipe, a socket or a device", f.op, f.path)
	}
	info, err := f.m.root.Stat(f.rel)
	if err != nil {
		return nil, f.wrong(err)
	}
	if e := check(info); e != nil {
		return nil, e
	}
	file, err := f.m.root.OpenFile(f.rel, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, f.wrong(err)
	}
	var wrong *engine.Error
	if info, err = file.Stat(); err != nil {
		wrong = f.wrong(err)
	} else if wrong = check(info); wrong == nil && madeUp(file) { // it may have been replaced meanwhile
		wrong = failed(diag.TouchRefused, "fs.%s: %q is made up by the kernel, as those of /proc and /sys are", f.op, f.path)
	}
	if wrong != nil {
		file.Close()
		return nil, wrong
	}
	return file, nil
}

func (f *filing) read(run *redact.Set) (generable.Value, *engine.Error) {
	file, wrong := f.regular()
	if wrong != nil {
		return generable.Value{}, wrong
	}
	defer file.Close()
	limit, part := f.g.cap, false
	if n, ok := f.a.value("limit").AsInt(); ok {
		limit, part = min(n, f.g.cap), true
	}
	margin := int64(run.Margin()) // so that a secret at the end is seen whole
	data, err := io.ReadAll(io.LimitReader(file, limit+margin+1))
	if err != nil {
		return generable.Value{}, f.wrong(err)
	}
	if int64(len(data)) > limit {
		if !part {
			return generable.Value{}, failed(diag.TouchTooBig, "fs.read: %q has more than %d bytes", f.path, limit).
				WithHelp("read the first part of it: fs.read(path, limit = %d)", limit)
		}
		shown := run.String(text.Cut(string(data), int(limit+margin))) // the cut may be inside a character
		if int64(len(data)) > limit+margin {
			shown = text.Cut(shown, max(0, len(shown)-int(margin)))
		}
		data = []byte(text.Cut(shown, int(limit)))
	}
	if !utf8.Valid(data) {
		return generable.Value{}, failed(diag.TouchFailed, "fs.read: %q is no UTF-8 text", f.path)
	}
	return generable.StrOf(string(data)), nil
}

func (f *filing) stat() (generable.Value, *engine.Error) {
	info, err := f.m.root.Stat(f.rel)
	if f.op == "exists" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return generable.BoolOf(err == nil), nil
	}
	if err != nil {
		return generable.Value{}, f.wrong(err)
	}
	kind := "other"
	if info.Mode().IsRegular() {
		kind = "file"
	} else if info.IsDir() {
		kind = "dir"
	}
	return generable.NewRecord(capability.FileStatType, []generable.Value{generable.StrOf(f.path), generable.StrOf(kind),
		generable.IntOf(info.Size()), generable.StrOf(info.ModTime().UTC().Format(time.RFC3339))}).Value(), nil
}
