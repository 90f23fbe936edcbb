package testverb

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
)

// kept is what the verb stores for a project between two runs: which tests failed last, and the traces of those.
type kept struct {
	dir    string // "" if the user has no directory for it
	traces string
	failed map[string]bool // by file and name; a broken file has no name
}

// openKept reads what is stored for the project of a directory.
func openKept(c *term.Console, dir, traces string) (*kept, *term.Failure) {
	k := &kept{traces: traces, failed: map[string]bool{}}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, term.Usagef("", "%s: %s", dir, term.FileProblem(err))
	}
	if file := project.Find(whole); file != "" {
		whole = filepath.Dir(file)
	}
	if cache, _ := setup.UserDir(c, "test", "XDG_CACHE_HOME", "LOCALAPPDATA", ".cache"); cache != "" {
		k.dir = filepath.Join(cache, hash(whole))
		if traces == "" {
			k.traces = filepath.Join(k.dir, "traces")
		}
	}
	data, err := os.ReadFile(k.record())
	var names []string
	if err == nil && json.Unmarshal(data, &names) == nil { // a damaged record is written again
		for _, name := range names {
			k.failed[name] = true
		}
	}
	return k, nil
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

func (k *kept) record() string { return filepath.Join(k.dir, "failed.json") }

// note records how a test ended.
func (k *kept) note(name string, failed bool) {
	if delete(k.failed, name); failed {
		k.failed[name] = true
	}
}

// loaded forgets tests that a file no longer has. A broken file failed as a whole.
func (k *kept) loaded(f *testrun.File) {
	whole := key(f, "")
	if k.note(whole, f.Broken); f.Broken {
		return
	}
	has := map[string]bool{}
	for _, t := range f.Tests {
		has[key(f, t.Name)] = true
	}
	maps.DeleteFunc(k.failed, func(name string, _ bool) bool { return strings.HasPrefix(name, whole) && !has[name] })
}

// store writes which tests failed last.
func (k *kept) store(c *term.Console) {
	if k.dir == "" {
		return
	}
	maps.DeleteFunc(k.failed, func(name string, _ bool) bool {
		_, err := os.Stat(name[:strings.LastIndexByte(name, ':')])
		return errors.Is(err, fs.ErrNotExist)
	})
	data, err := json.MarshalIndent(slices.Sorted(maps.Keys(k.failed)), "", " ")
	if err == nil {
		err = writePrivate(k.record(), func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	if err != nil {
		c.Report(diag.List{{Severity: diag.Warning, Message: "which tests failed cannot be kept for --failed: " + term.FileProblem(err)}}, nil)
	}
}

// trace stores the events of a failed test, in the format of agentscript run --trace, and returns the file. It returns
// "" for a test that passed.
func (k *kept) trace(c *term.Console, f *testrun.File, r *testrun.Result) (string, error) {
	if k.traces == "" {
		return "", nil
	}
	base := strings.TrimSuffix(filepath.Base(f.Shown()), ".star")
	name := base + "." + r.Name
	at := filepath.Join(k.traces, strings.ToValidUTF8(name[:min(len(name), 150)], "")+"."+hash(key(f, r.Name))+".jsonl")
	if !r.Status.Bad() {
		if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return "", nil
	}
	return at, writePrivate(at, func(w io.Writer) error {
		lines := term.JSONLines{Out: hidden{c, w}, Only: engine.EventAll}
		for _, e := range r.Trace {
			lines.Event(e)
		}
		return lines.Err
	})
}

// hidden is a writer that removes keys.
type hidden struct {
	c *term.Console
	w io.Writer
}

func (h hidden) Write(b []byte) (int, error) {
	_, err := io.WriteString(h.w, h.c.Hidden(string(b)))
	return len(b), err
}

// writePrivate writes a file that only the user can read, completely or not at all.
func writePrivate(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // created with mode 0600
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}
