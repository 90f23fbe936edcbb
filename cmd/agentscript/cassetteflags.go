package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/spf13/pflag"
)

// cassetteFlags say where model calls, and all else that a run does to the world, are kept, and whether
// they are answered from there.
type cassetteFlags struct {
	record, replay, cache string
}

func (f *cassetteFlags) addTo(set *pflag.FlagSet) {
	set.StringVar(&f.record, "record", "", "write each model call and all else that the run does outside, and what it came to, as JSON lines to `FILE`")
	set.StringVar(&f.replay, "replay", "", "answer from this `FILE` of --record: no model is asked, and nothing outside is touched")
	set.StringVar(&f.cache, "cache", "", "keep the answers of models in this `DIR`, and ask only for those that are not there")
}

func (f *cassetteFlags) valid(scripted string) *failure {
	switch {
	case f.replay != "" && (f.record != "" || f.cache != "" || scripted != ""):
		return usagef("", "--replay answers all model calls: --record, --cache and --scripted do not go with it")
	case f.cache != "" && scripted != "":
		return usagef("", "--scripted answers all model calls: --cache does not go with it")
	}
	return nil
}

// replayer reads what --replay names.
func (f *cassetteFlags) replayer(redact func(string) string) (*cassette.Replayer, *failure) {
	return readFile("--replay", f.replay, "name a file of --record", func(file io.Reader) (*cassette.Replayer, error) {
		return cassette.Replay(file, f.replay, redact)
	})
}

// readFile reads a file that a flag names. The help is for one who names a directory.
func readFile[T any](flag, name, help string, read func(io.Reader) (T, error)) (out T, problem *failure) {
	file, err := os.Open(name)
	if err != nil {
		return out, usagef("", "%s %s: %s", flag, name, fileProblem(err))
	}
	defer file.Close() // it is only read
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return out, usagef(help, "%s %s: is a directory", flag, name)
	}
	if out, err = read(file); err != nil {
		return out, &failure{code: exitUsage, found: diag.List{diagnose(err)}}
	}
	return out, nil
}

// cached puts the cache around models.
func (f *cassetteFlags) cached(models engine.Handler, redact func(string) string) (engine.Handler, *failure) {
	if f.cache == "" {
		return models, nil
	}
	cache, err := cassette.NewCache(f.cache, models, redact)
	if err != nil {
		return nil, usagef("", "--cache %s: %s", f.cache, fileProblem(err))
	}
	return cache, nil
}

// recorder puts the recorder around models; it is nil when nothing is recorded. The file is the caller's
// to close.
func (f *cassetteFlags) recorder(models engine.Handler, redact func(string) string, others ...string) (*cassette.Recorder, *os.File, *failure) {
	if f.record == "" {
		return nil, nil, nil
	}
	if f.record == "-" {
		return nil, nil, usagef("name a file", "--record - names no file")
	}
	if other := sameFile(f.record, others...); other != "" {
		return nil, nil, usagef("", "--record %s would overwrite %s", f.record, other)
	}
	file, err := os.OpenFile(f.record, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) // prompts and answers are the user's alone
	if err != nil {
		if dir := filepath.Dir(f.record); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, usagef("make it first, or write elsewhere", "--record %s: there is no directory %s", f.record, dir)
		}
		return nil, nil, usagef("", "--record %s: %s", f.record, fileProblem(err))
	}
	return cassette.Record(file, models, redact), file, nil
}

// unasked warns of recorded calls that a run did not make.
func (f *cassetteFlags) unasked(r *cassette.Replayer) diag.List {
	if r == nil {
		return nil
	}
	lines := r.Unused()
	if len(lines) == 0 {
		return nil
	}
	return diag.List{{Severity: diag.Warning, Message: fmt.Sprintf("%s holds %s that this run did not make, the first in line %d", f.replay, text.Count(len(lines), "call"), lines[0])}}
}
