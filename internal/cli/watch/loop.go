// Package watch runs something again each time one of its files changes. It polls, so that it works with any editor,
// any file system and any way to replace a file. It remembers what a run did, so that an edit costs only what it
// changed.
package watch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine/clock"
)

const (
	every   = 250 * time.Millisecond // between two checks of the files
	settle  = 50 * time.Millisecond  // between two checks of files that are changing
	steady  = 1                      // checks without a change that end a change
	missing = 10                     // the same if a file is missing or empty and may come back
)

// Loop runs something, and runs it again each time one of its files has changed or again returns true, until ctx ends.
// again may be nil. files returns the paths that run depends on; it is called before the first run and after each.
// Changes during a run count. A change is over when the files have not changed for a moment: writing a file in several
// steps, or through another name, is one change. Loop uses the clock in ctx.
func Loop(ctx context.Context, files func() []string, again func() bool, run func(ctx context.Context)) {
	seen := see(files())
	for {
		run(ctx)
		before := seen
		seen = see(files()) // what the run no longer depends on is no longer watched
		for path := range seen {
			if state, known := before[path]; known {
				seen[path] = state
			}
		}
		now := next(ctx, seen, again)
		if now == nil {
			return
		}
		seen = now
	}
}

// next waits until the files differ from their seen states, or again returns true, and returns the new states. It
// returns nil once ctx has ended.
func next(ctx context.Context, seen states, again func() bool) states {
	for {
		if clock.Sleep(ctx, every) != nil {
			return nil
		}
		now := seen.again()
		if again != nil && again() {
			return now
		}
		if now.same(seen) {
			continue
		}
		for quiet := 0; quiet < now.patience(seen); quiet++ {
			if clock.Sleep(ctx, settle) != nil {
				return nil
			}
			if later := seen.again(); !later.same(now) {
				now, quiet = later, -1
			}
		}
		if !now.same(seen) {
			return now
		}
	}
}

// states are the states of files, by path.
type states map[string]state

// state is what shows that a file has changed; for a directory, the names in it.
type state struct {
	info  fs.FileInfo // nil if the file does not exist
	names string
}

func see(paths []string) states {
	all := make(states, len(paths))
	for _, path := range paths {
		all[path] = look(path)
	}
	return all
}

func look(path string) state {
	info, err := os.Stat(path) // of the target of a link
	if err != nil {
		return state{}
	}
	if !info.IsDir() {
		return state{info: info}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return state{}
	}
	var names strings.Builder
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !strings.HasSuffix(e.Name(), "~") { // files of editors that come and go
			names.WriteString(e.Name() + "\x00")
		}
	}
	return state{info: info, names: names.String()}
}

// again checks the same files again.
func (s states) again() states {
	now := make(states, len(s))
	for path := range s {
		now[path] = look(path)
	}
	return now
}

func (s states) same(as states) bool {
	for path, a := range s {
		if !a.same(as[path]) {
			return false
		}
	}
	return true
}

func (a state) same(b state) bool {
	switch {
	case a.info == nil || b.info == nil:
		return a.info == nil && b.info == nil
	case a.info.IsDir():
		return b.info.IsDir() && a.names == b.names
	}
	return a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime()) && os.SameFile(a.info, b.info)
}

// patience returns how many checks without a change end a change: more if a file has become missing or empty.
func (s states) patience(seen states) int {
	for path, a := range s {
		before := seen[path].info
		if before != nil && (a.info == nil || !a.info.IsDir() && a.info.Size() == 0 && before.Size() > 0) {
			return missing
		}
	}
	return steady
}

// most bounds the files that are watched for a script that cannot be loaded.
const most = 1000

// below returns the files and directories below a directory, except hidden ones: what a script that cannot be loaded
// may depend on.
func below(dir string) []string {
	var paths []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // unreadable files are skipped
		switch {
		case len(paths) >= most:
			return filepath.SkipAll
		case err != nil:
			return filepath.SkipDir
		case path != dir && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		paths = append(paths, path)
		return nil
	})
	return paths
}
