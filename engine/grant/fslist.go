package grant

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Limits of a listing.
const (
	maxListed  = 10_000  // paths returned
	maxVisited = 200_000 // entries visited
	readAtOnce = 1_000
)

// list answers fs.list. It lists symbolic links without following them.
func (f *filing) list(ctx context.Context) (generable.Value, *engine.Error) {
	l := &listing{f: f, ctx: ctx}
	if p := f.a.str("pattern"); p != "" {
		l.pattern = slices.CompactFunc(strings.Split(path.Clean(p), "/"), func(a, b string) bool { return a == "**" && b == "**" })
		for _, part := range l.pattern {
			if _, err := path.Match(part, ""); err != nil || part == ".." || part == "" {
				return generable.Value{}, failed(diag.TouchFailed, "fs.list: %q is no pattern", p).WithHelp("*.md, docs/*.md or **/*.md")
			}
		}
	}
	if wrong := l.dir(f.rel, "", l.pattern, 0); wrong != nil {
		return generable.Value{}, wrong
	}
	slices.Sort(l.found)
	l.found = slices.Compact(l.found)
	items := make([]generable.Value, len(l.found))
	for i, p := range l.found {
		items[i] = generable.StrOf(p)
	}
	return generable.NewList(items).Value(), nil
}

// listing collects the paths below a directory.
type listing struct {
	f       *filing
	ctx     context.Context
	pattern []string
	found   []string
	visited int
}

// dir lists a directory: everything in it, or what the rest of a pattern matches. under is the path that prefixes the
// names of its entries.
func (l *listing) dir(rel, under string, rest []string, depth int) *engine.Error {
	if depth > maxDepth {
		return failed(diag.TouchTooBig, "fs.list: directories are nested more than %d deep below %q", maxDepth, l.f.path).WithHelp("list a part, or use a pattern without **")
	}
	entries, wrong := l.entries(rel)
	if wrong != nil {
		return wrong
	}
	for _, e := range entries {
		if unfinished(e.Name()) {
			continue
		}
		name := strings.ToValidUTF8(e.Name(), "\uFFFD")
		at := path.Join(under, name)
		if l.pattern == nil {
			l.add(at, e.IsDir())
			continue
		}
		for _, more := range follow(rest, name) {
			if len(more) == 0 || len(more) == 1 && more[0] == "**" {
				l.add(at, e.IsDir())
			}
			if e.IsDir() && len(more) > 0 {
				if wrong := l.dir(path.Join(rel, e.Name()), at, more, depth+1); wrong != nil {
					return wrong
				}
			}
		}
		if len(l.found) > maxListed {
			break
		}
	}
	if len(l.found) > maxListed {
		return failed(diag.TouchTooBig, "fs.list: %q has more than %d entries", l.f.path, maxListed).WithHelp("list a part, or use a narrower pattern")
	}
	return nil
}

// follow returns the possible rests of a pattern after a name, and nothing if the name does not match. ** matches any
// number of directories.
func follow(rest []string, name string) [][]string {
	var ways [][]string
	if len(rest) > 0 && rest[0] == "**" {
		ways = append(ways, rest)
		rest = rest[1:]
	}
	if len(rest) > 0 {
		if ok, err := path.Match(rest[0], name); ok && err == nil {
			ways = append(ways, rest[1:])
		}
	}
	return ways
}

func (l *listing) add(p string, dir bool) {
	if dir {
		p += "/"
	}
	l.found = append(l.found, p)
}

func (l *listing) entries(rel string) ([]fs.DirEntry, *engine.Error) {
	info, err := l.f.m.root.Stat(rel)
	switch {
	case err != nil:
		return nil, l.f.wrong(err)
	case !info.IsDir():
		return nil, failed(diag.TouchFailed, "fs.list: %q is no directory", l.f.path)
	}
	dir, err := l.f.m.root.Open(rel)
	if err != nil {
		return nil, l.f.wrong(err)
	}
	defer dir.Close()
	if madeUp(dir) {
		return nil, failed(diag.TouchRefused, "fs.list: %q is made up by the kernel, as those of /proc and /sys are", l.f.path)
	}
	var all []fs.DirEntry
	for {
		some, err := dir.ReadDir(readAtOnce)
		all = append(all, some...)
		l.visited += len(some)
		switch {
		case l.ctx.Err() != nil:
			return nil, l.f.a.tooSlow(l.ctx, "fs.list")
		case l.visited > maxVisited:
			return nil, failed(diag.TouchTooBig, "fs.list: more than %d files are below %q", maxVisited, l.f.path).WithHelp("list a part, or use a narrower pattern")
		case errors.Is(err, io.EOF):
			slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return all, nil
		case err != nil:
			return nil, l.f.wrong(err)
		}
	}
}
