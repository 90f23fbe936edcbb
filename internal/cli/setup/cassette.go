package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// cassetteFlags set where model calls, and everything else that a run does outside of it, are recorded, and whether the
// record answers them.
type cassetteFlags struct {
	Record, Replay, cache string
	force                 bool // Record may exist

	Tape io.Writer // the record is also written here; may be nil
	made bool      // this process has created the file of Record
}

// readFile reads a file that a flag names. help is the help if the name is a directory.
func readFile[T any](flag, name, help string, read func(from io.Reader, name string) (T, error)) (out T, problem *term.Failure) {
	file, err := os.Open(name)
	if err != nil {
		return out, term.Usagef("", "%s %s: %s", flag, name, term.FileProblem(err))
	}
	defer file.Close() // it is only read
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return out, term.Usagef(help, "%s %s: is a directory", flag, name)
	}
	if out, err = read(file, name); err != nil {
		return out, &term.Failure{Code: term.ExitUsage, Found: diag.List{term.Diagnose(err)}}
	}
	return out, nil
}

// cached wraps models in the cache.
func (f *cassetteFlags) cached(models engine.Handler, redact func(string) string) (engine.Handler, *term.Failure) {
	if f.cache == "" {
		return models, nil
	}
	cache, err := cassette.NewCache(f.cache, models, redact)
	if err != nil {
		return nil, term.Usagef("", "--cache %s: %s", f.cache, term.FileProblem(err))
	}
	return cache, nil
}

// recording returns the writer of the run's record, or nil if nothing is recorded. The caller closes the file.
func (f *cassetteFlags) recording(redact func(string) string, others ...string) (*runfile.Writer, *os.File, *term.Failure) {
	switch {
	case f.Record == "" && f.Tape == nil:
		return nil, nil, nil
	case f.Record == "":
		return runfile.NewWriter(f.Tape, redact), nil, nil
	}
	file, problem := f.create(others)
	if problem != nil {
		return nil, nil, problem
	}
	var to io.Writer = file
	if f.Tape != nil {
		to = io.MultiWriter(file, f.Tape)
	}
	return runfile.NewWriter(to, redact), file, nil
}

// create creates the file of --record. It leaves a file that existed before this process unchanged, unless --force was
// given.
func (f *cassetteFlags) create(others []string) (*os.File, *term.Failure) {
	flags := os.O_TRUNC
	if f.made {
		flags = os.O_APPEND
	} else if info, err := os.Stat(f.Record); err == nil && info.Mode().IsRegular() && !f.force && sameFile(f.Record, others...) == "" {
		return nil, term.Usagef("write elsewhere, or overwrite it with --force", "--record %s: the file is there already", f.Record)
	}
	file, problem := createFile("--record", f.Record, "name a file", flags, others...)
	f.made = problem == nil
	return file, problem
}

// Cut warns of a record whose process was killed while it wrote a line.
func (f *cassetteFlags) Cut(r *cassette.Replayer) diag.List {
	if r == nil || r.Cut() == 0 {
		return nil
	}
	return diag.List{{Severity: diag.Warning, Message: fmt.Sprintf("%s ends in the middle of line %d, which is left out: its process was ended while it wrote it", f.Replay, r.Cut())}}
}

// Unasked warns of recorded calls that a run did not make.
func (f *cassetteFlags) Unasked(r *cassette.Replayer) diag.List {
	if r == nil {
		return nil
	}
	lines := r.Unused()
	if len(lines) == 0 {
		return nil
	}
	return diag.List{{Severity: diag.Warning, Message: fmt.Sprintf("%s holds %s that this run did not make, the first in %s %d", f.Replay, text.Count(len(lines), "call"), r.Lines(), lines[0])}}
}

// CreateFile creates the file that a flag names, unless it is one of others. The mode is 0600, since prompts and
// answers are private to the user. help is the help if the name is stdout.
func CreateFile(flag, name, help string, others ...string) (*os.File, *term.Failure) {
	return createFile(flag, name, help, os.O_TRUNC, others...)
}

func createFile(flag, name, help string, how int, others ...string) (*os.File, *term.Failure) {
	if name == "-" {
		return nil, term.Usagef(help, "%s - names no file", flag)
	}
	if other := sameFile(name, others...); other != "" {
		return nil, term.Usagef("", "%s %s would overwrite %s", flag, name, other)
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|how, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, term.Usagef("make it first, or write elsewhere", "%s %s: there is no directory %s", flag, name, filepath.Dir(name))
	} else if err != nil {
		return nil, term.Usagef("", "%s %s: %s", flag, name, term.FileProblem(err))
	}
	return file, nil
}

// sameFile returns the first of some files that is the same file as path, or "".
func sameFile(path string, others ...string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	for _, other := range others {
		if at, err := os.Stat(other); other != "" && err == nil && os.SameFile(info, at) {
			return other
		}
	}
	return ""
}

// stored reads a run from the store of runs, by its id or a prefix of it. It returns nil if there is no store, or if
// the store has no such run.
func stored(c *term.Console, named, id string, redact func(string) string) (*cassette.Replayer, *term.Failure) {
	path := FindStore(c, named).Path
	if info, err := os.Stat(path); path == "" || err != nil || !info.Mode().IsRegular() || id == "" || strings.ContainsAny(id, `/\`) {
		return nil, nil
	}
	ctx := context.Background() // reading a file needs no deadline
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer store.Close() // it is only read
	found, all, err := MatchRun(ctx, store, id, 0)
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(all) > 0:
		return nil, term.Usagef("write more of the id: "+strings.Join(all[:min(len(all), 5)], ", "), "--replay %s: %d runs of %s begin with it", id, len(all), filepath.Base(path))
	case found == "":
		return nil, nil
	}
	r, err := cassette.ReplayRun(ctx, store, found, redact)
	if err != nil {
		return nil, unreadable(err)
	}
	return r, nil
}

func unreadable(err error) *term.Failure {
	failed, ok := errors.AsType[*term.Failure](StoreFailure(err))
	if !ok { // not the id of a run in a store
		failed = &term.Failure{Code: term.ExitFailed, Found: diag.List{term.Diagnose(err)}}
	}
	return failed
}

// replayed reads what --replay names: a file or, if the file does not exist, a run of the store.
func (f *cassetteFlags) replayed(c *term.Console, store string, redact func(string) string) (*cassette.Replayer, *term.Failure) {
	if _, err := os.Stat(f.Replay); errors.Is(err, fs.ErrNotExist) {
		if r, problem := stored(c, store, f.Replay, redact); r != nil || problem != nil {
			return r, problem
		}
	}
	return readFile("--replay", f.Replay, "name a file of --record, or a run", func(from io.Reader, name string) (*cassette.Replayer, error) {
		return cassette.Replay(from, name, redact)
	})
}

// asRecorded makes a replay choose the models as the recorded run did, by its flags and its project file. What this
// command line sets takes precedence. settings are those of the recorded run; they have another form if no command
// started it.
func (choice modelChoice) asRecorded(settings json.RawMessage, own *pflag.FlagSet) (modelChoice, *term.Failure) {
	var kept struct {
		V       int                 `json:"v"`
		Flags   map[string][]string `json:"flags"`
		Project *project.Kept       `json:"project"`
	}
	if json.Unmarshal(settings, &kept) != nil || kept.V != 1 {
		return choice, nil
	}
	o := &RunFlags{models: kept.Flags["model"]}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.aliases.AddTo(flags)
	for _, alias := range kept.Flags["model-alias"] {
		_ = flags.Set("model-alias", alias) // it accepts any text
	}
	var problem *term.Failure
	if o.Project, problem = kept.Project.Restore(); problem != nil {
		return choice, problem
	}
	was, problem := o.modelChoice()
	if problem != nil {
		return choice, problem
	}
	if was.aliases, problem = o.aliases.Of(o.Project); problem != nil {
		return choice, problem
	}
	if project.Given(own, "model") {
		was.all, was.byAgent, was.unnamed = choice.all, choice.byAgent, choice.unnamed
	}
	if project.Given(own, "model-alias") {
		was.aliases = choice.aliases
	}
	return was, nil
}
