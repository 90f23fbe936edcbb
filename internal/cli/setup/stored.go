package setup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// runsFile is the file in which runs are kept, "" if there is none.
func runsFile(c *term.Console) string {
	switch at := c.Env("AGENTSCRIPT_STORE"); at {
	case "":
	case "off":
		return ""
	default:
		return at
	}
	path, _ := UserDir(c, "runs.db", "XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state")
	return path
}

// stored reads a run that is kept in the store of runs, by its id or the beginning of that. It is nil if there is no
// store, or if the store has no such run.
func stored(c *term.Console, id string, redact func(string) string) (*cassette.Replayer, *term.Failure) {
	path := runsFile(c)
	if info, err := os.Stat(path); path == "" || err != nil || !info.Mode().IsRegular() || id == "" || strings.ContainsAny(id, `/\`) {
		return nil, nil
	}
	ctx := context.Background() // it reads a file
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer store.Close() // it is only read
	runs, err := store.Runs(ctx, engine.RunFilter{Prefix: id})
	if err != nil {
		return nil, unreadable(err)
	}
	var found string
	var all []string
	for _, run := range runs {
		if all = append(all, run.ID); run.ID == id {
			found = id
		}
	}
	switch {
	case len(runs) == 0:
		return nil, nil
	case len(runs) == 1:
		found = all[0]
	case found == "":
		return nil, term.Usagef("write more of the id: "+strings.Join(all[:min(len(all), 5)], ", "), "--replay %s: %d runs of %s begin with it", id, len(all), filepath.Base(path))
	}
	r, err := cassette.ReplayRun(ctx, store, found, redact)
	if err != nil {
		return nil, unreadable(err)
	}
	return r, nil
}

func unreadable(err error) *term.Failure {
	failed, ok := errors.AsType[*term.Failure](StoreFailure(err))
	if !ok { // it is none of a store's
		failed = &term.Failure{Code: term.ExitFailed, Found: diag.List{term.Diagnose(err)}}
	}
	return failed
}

// replayed reads what --replay names: a file, or where there is no such file a run of the store.
func (f *cassetteFlags) replayed(c *term.Console, redact func(string) string) (*cassette.Replayer, *term.Failure) {
	if _, err := os.Stat(f.Replay); errors.Is(err, fs.ErrNotExist) {
		if r, problem := stored(c, f.Replay, redact); r != nil || problem != nil {
			return r, problem
		}
	}
	return readFile("--replay", f.Replay, "name a file of --record, or a run", func(from io.Reader, name string) (*cassette.Replayer, error) {
		return cassette.Replay(from, name, redact)
	})
}
