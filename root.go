package agentscript

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/starlib"
)

// inFS returns where a script in a file system is, and what it may read.
func (e *Engine) inFS(ctx context.Context, fsys fs.FS, entry string) (starlib.Options, *LoadError) {
	o := starlib.Options{FS: fsys, Entry: entry, Root: e.cfg.root}
	switch {
	case ctx == nil:
		return o, unloadable(noContext("loading " + entry))
	case fsys == nil:
		return o, unloadable(engine.Errorf(engine.KindInput, diag.MissingArgument, "loading %s got no file system", entry).
			WithHelp("pass os.DirFS(dir), an embed.FS or any other fs.FS"))
	}
	if root := path.Clean(o.Root); o.Root != "" && root != "." && !strings.HasPrefix(path.Clean(entry), root+"/") {
		return o, notBelow(entry, o.Root)
	}
	return o, nil
}

// file returns where a path of the operating system is. The paths as written decide whether it is below the root: the
// script itself is what the caller named, wherever a link in its path leads. For what the script reads, links are
// followed.
func (e *Engine) file(ctx context.Context, name string) (starlib.Options, *LoadError) {
	if ctx == nil {
		return starlib.Options{}, unloadable(noContext("loading " + name))
	}
	dir, entry := filepath.Split(name)
	if e.cfg.root == "" {
		shown := filepath.ToSlash(dir)
		if dir == "" {
			dir = "."
		}
		return starlib.Options{FS: os.DirFS(dir), Entry: entry, Dir: shown}, nil
	}
	root, err := filepath.Abs(e.cfg.root)
	at, wrong := filepath.Abs(name)
	below, apart := filepath.Rel(root, at)
	if errors.Join(err, wrong, apart) != nil || !filepath.IsLocal(below) {
		return starlib.Options{}, notBelow(name, e.cfg.root)
	}
	below = filepath.ToSlash(below)
	// Files are shown in the way in which the caller wrote the script's path, if that passes through the root.
	shown, through := strings.CutSuffix(filepath.ToSlash(filepath.Clean(name)), below)
	if !through || shown != "" && !strings.HasSuffix(shown, "/") {
		shown = filepath.ToSlash(e.cfg.root)
	}
	return starlib.Options{FS: os.DirFS(e.cfg.root), Entry: below, Dir: shown, Root: "."}, nil
}

func notBelow(name, root string) *LoadError {
	return &LoadError{List: diag.List{{Code: diag.OutsideDirectory, Message: name + " does not lie below the root directory " + root,
		Help: []string{"the root directory holds the script and all that it reads"}}}, Sources: diag.SourceMap{}}
}

// unloadable returns the error of a wrong call by the host. There is no script to blame.
func unloadable(e *engine.Error) *LoadError {
	return &LoadError{List: diag.List{{Code: e.Code, Message: e.Message, Help: []string{e.Help}, Cause: e}}, Sources: diag.SourceMap{}}
}
