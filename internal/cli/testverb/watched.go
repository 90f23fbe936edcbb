package testverb

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/cli/watch"
	"github.com/agentscript/agentscript/internal/testrun"
)

// watched is the state that rounds of --watch share. It is nil for a single round.
type watched struct {
	*watch.Session
	seen   map[string][sha256.Size]byte // by test file: what its tests depended on when they ran last
	failed map[string]bool              // test files that did not pass
	all    bool                         // the next round runs all files, whatever has changed
}

func newWatched(c *term.Console) *watched {
	return &watched{Session: watch.New(c), seen: map[string][sha256.Size]byte{}, failed: map[string]bool{}}
}

// looksAt makes the watch find new test files below the paths, and watch files that cannot be loaded.
func (w *watched) looksAt(paths, names []string, root string) {
	if w == nil {
		return
	}
	var dirs []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			dirs = append(dirs, path)
		}
	}
	for _, name := range names {
		w.Loads(name, slices.Concat(dirs, []string{filepath.Dir(name)}, beside(name))...)
	}
}

// concerned returns the files whose tests depend on something that changed since they ran, and those that did not pass,
// which come first.
func (w *watched) concerned(files []*testrun.File, root string) []*testrun.File {
	if w == nil {
		return files
	}
	var first, others []*testrun.File
	for _, f := range files {
		w.Loaded(root, f.Shown(), f.Module)
		sum := w.dependsOn(f)
		switch {
		case w.failed[f.Shown()]:
			first = append(first, f)
		case w.all || f.Broken || sum != w.seen[f.Shown()]:
			others = append(others, f)
		}
		w.seen[f.Shown()] = sum
	}
	return append(first, others...)
}

// dependsOn returns a hash of what the tests of a file depend on: its scripts and what they read, its snapshots, and
// the records next to it, with their modification times.
func (w *watched) dependsOn(f *testrun.File) [sha256.Size]byte {
	h := sha256.New()
	if f.Module != nil {
		h.Write([]byte(f.Module.Hash()))
	}
	others := beside(f.Shown())
	for _, path := range slices.Concat(w.FilesOf(f.Shown()), others) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(h, path, info.ModTime().UnixNano())
		}
	}
	for _, path := range others {
		if data, err := os.ReadFile(path); err == nil { // otherwise it was deleted again
			fmt.Fprintln(h, len(data))
			h.Write(data)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// beside lists the snapshots and records in the directory of a test file.
func beside(name string) []string {
	var found []string
	for _, ext := range []string{"*.snap", "*.jsonl"} {
		paths, _ := filepath.Glob(filepath.Join(filepath.Dir(name), ext)) // the pattern is valid
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				found = append(found, path)
			}
		}
	}
	return found
}

// ended records how the tests of a file ended.
func (w *watched) ended(r *testrun.Report) {
	if w == nil {
		return
	}
	bad := r.Broken || len(r.Unused) > 0
	for _, res := range r.Results {
		bad = bad || res.Status.Bad()
	}
	w.failed[r.Shown()] = bad
}
