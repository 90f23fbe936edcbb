// Package watch runs something again each time a file of it changes: it polls, so that any editor, any file system and
// any way to replace a file will do, and it remembers what a run did, so that an edit costs only what it changed.
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
	every   = 250 * time.Millisecond // between two looks at the files
	settle  = 50 * time.Millisecond  // between two looks at files that change
	steady  = 1                      // looks at files that stay as they are end a change
	missing = 10                     // the same, when one of them is gone or empty and may come back
)

// Loop runs something, and runs it again each time one of its files has changed or again returns true, until ctx ends.
// again may be nil. files returns the
// paths of what run depends on; it is called before the first run and after each. Changes made during a run count. A
// change is over when the files stay as they are for a moment: writing one in several steps, or by way of another
// name, is one change. Time is that of the clock in ctx.
func Loop(ctx context.Context, files func() []string, again func() bool, run func(ctx context.Context)) {
	seen := see(files())
	for {
		run(ctx)
		before := seen
		seen = see(files()) // what the run does not depend on any more is not watched
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

// next waits until the files are no longer as they were seen, or again returns true, and returns what they have come to
// be, nil once ctx has ended.
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

// states are files as they were seen, by their paths.
type states map[string]state

// state is what shows that a file has changed: of a directory the names in it.
type state struct {
	info  fs.FileInfo // nil if there is no such file
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
	info, err := os.Stat(path) // of what a link leads to
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
		if !strings.HasPrefix(e.Name(), ".") && !strings.HasSuffix(e.Name(), "~") { // editors come and go
			names.WriteString(e.Name() + "\x00")
		}
	}
	return state{info: info, names: names.String()}
}

// again looks at the same files once more.
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

// patience is how many looks end a change: more if a file is gone or empty that was not.
func (s states) patience(seen states) int {
	for path, a := range s {
		before := seen[path].info
		if before != nil && (a.info == nil || !a.info.IsDir() && a.info.Size() == 0 && before.Size() > 0) {
			return missing
		}
	}
	return steady
}

// most bounds how many files are watched for a script that cannot be loaded.
const most = 1000

// below returns the files and directories below a directory, hidden ones left out: what a script that cannot be loaded
// may depend on.
func below(dir string) []string {
	var paths []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read is left out
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
