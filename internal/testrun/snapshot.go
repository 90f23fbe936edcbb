package testrun

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// snapshots are the snapshots of one test file: a txtar archive next to it, with an entry for each snapshot.
type snapshots struct {
	path   string // in the file system
	update bool

	mu     sync.Mutex
	stored map[string]string
	used   map[string]bool
	made   map[string]string
}

// snapshotPath returns the path of a test file's snapshots: flow_test.star has flow_test.snap.
func snapshotPath(file string) string { return strings.TrimSuffix(file, ".star") + ".snap" }

func readSnapshots(fsys fs.FS, file string, update bool) (*snapshots, error) {
	s := &snapshots{path: snapshotPath(file), update: update, stored: map[string]string{}, used: map[string]bool{}, made: map[string]string{}}
	data, err := readRegular(fsys, s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the snapshots %s cannot be read: %w", s.path, unread(err))
	}
	for _, f := range txtar.Parse(data).Files {
		s.stored[f.Name] = string(f.Data)
	}
	return s, nil
}

// readRegular reads a file next to a test file. It rejects pipes and devices, which may never end.
func readRegular(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return fs.ReadFile(fsys, name)
}

// unread returns why a file cannot be read, without the name of the failed operation.
func unread(err error) error {
	p, ok := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case ok:
		return p.Err
	}
	return err
}

// beside is the directory of a test file. It rejects links that lead out of it, as load and file do.
type beside string

func (dir beside) Open(name string) (fs.File, error) {
	root, err := os.OpenRoot(string(dir))
	if err != nil {
		return nil, err
	}
	defer root.Close() // what it opened stays open
	f, err := root.Open(name)
	return f, dir.explained(name, err)
}

// Stat implements [fs.StatFS]. It does not open pipes.
func (dir beside) Stat(name string) (fs.FileInfo, error) {
	root, err := os.OpenRoot(string(dir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	return info, dir.explained(name, err)
}

// explained returns the error about an existing file that is not accessible.
func (dir beside) explained(name string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	if _, there := os.Stat(filepath.Join(string(dir), name)); there == nil {
		return errors.New("it leads out of the directory of the test file through a symbolic link")
	}
	return err
}

// Snapshot compares a text with the stored one.
func (c *testCase) Snapshot(name, shot string) *engine.Error {
	if hide := c.file.opts.Hide; hide != nil {
		name, shot = hide(name), hide(shot)
	}
	c.mu.Lock()
	c.shots++
	name = oneWord(name)
	if name == "" {
		name = fmt.Sprint(c.shots)
	}
	c.mu.Unlock()
	name = c.name + "/" + name
	if !strings.HasSuffix(shot, "\n") {
		shot += "\n"
	}
	shot = escapeMarkers(shot)
	s := c.file.shots
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.shown[name] {
		return engine.Errorf(engine.KindTest, diag.BadTest, "the snapshot %q is made twice", name).WithHelp("rename one of them")
	}
	c.shown[name], s.used[name], s.made[name] = true, true, shot
	stored, ok := s.stored[name]
	switch {
	case s.update || stored == shot && ok:
		return nil
	case !ok:
		err := engine.Errorf(engine.KindTest, diag.SnapshotDiffers, "there is no snapshot %q in %s", name, s.path).WithHelp("look at it, and store it with --update")
		err.Notes = noted(shot)
		return err
	}
	err := engine.Errorf(engine.KindTest, diag.SnapshotDiffers, "the snapshot %q differs from the one in %s", name, s.path).WithHelp("if it is as it should be, store it with --update")
	if len(stored)+len(shot) <= mostNoted {
		err.Notes = noted(string(diff.Diff("stored", []byte(stored), "now", []byte(shot))))
	}
	return err
}

// mostNoted bounds the bytes of snapshots that are shown and compared line by line.
const mostNoted = 1 << 20

// noted returns the lines of a text for the notes of an error.
func noted(s string) []string {
	return strings.Split(strings.TrimRight(text.ClipMiddle(s, mostNoted), "\n"), "\n")
}

// escapeMarkers escapes lines that look like a marker of the archive.
func escapeMarkers(text string) string {
	if !strings.Contains(text, "-- ") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "-- ") || strings.HasPrefix(line, `\-- `) {
			b.WriteByte('\\')
		}
		b.WriteString(line)
	}
	return b.String()
}

// unused lists the stored snapshots that were not made, of tests for which would returns true.
func (s *snapshots) unused(would func(test string) bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.stored {
		if test, _, _ := strings.Cut(name, "/"); !s.used[name] && would(test) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// write stores the snapshots except unused ones.
func (s *snapshots) write(dir string, unused []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := maps.Clone(s.stored)
	maps.Copy(to, s.made)
	maps.DeleteFunc(to, func(name, _ string) bool { return slices.Contains(unused, name) })
	at := filepath.Join(dir, filepath.FromSlash(s.path))
	if maps.Equal(to, s.stored) {
		return nil
	}
	if len(to) == 0 {
		return os.Remove(at)
	}
	var a txtar.Archive
	a.Comment = []byte("Snapshots of " + path.Base(strings.TrimSuffix(s.path, ".snap")) + ".star. agentscript test --update writes them.\n")
	for _, name := range slices.Sorted(maps.Keys(to)) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(to[name])})
	}
	tmp, err := os.CreateTemp(filepath.Dir(at), ".snap-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(txtar.Format(&a))
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), at)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// difference describes the difference of two values as a diff of their lines. It returns "" if that says no more than
// the values.
func difference(got, want generable.Value) string {
	a, b := []byte(double.Lines(want)+"\n"), []byte(double.Lines(got)+"\n")
	if bytes.Count(a, []byte("\n")) < 2 && bytes.Count(b, []byte("\n")) < 2 {
		return ""
	}
	return string(diff.Diff("want", a, "got", b))
}
