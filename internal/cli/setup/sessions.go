package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/files"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// sessionFlags name the session that a run goes on with.
type sessionFlags struct{ id, store string }

// InSession runs in the session that is named. A replay goes on from what was recorded of it, and
// leaves the session as it is.
func InSession(c *term.Console, o *sessionFlags, models *Ports) (agentscript.RunOption, error) {
	if models.Replayed != nil {
		if store, id := models.Replayed.Sessions(); id != "" {
			return agentscript.Session(store, id), nil
		}
		return nil, nil
	}
	if o.id == "" {
		return nil, nil
	}
	store, err := SessionStore(c, o.store)
	if err != nil {
		return nil, StoreFailure(err)
	}
	return agentscript.Session(store, o.id), nil
}

// SessionStore opens the store in a directory, or that of the user.
func SessionStore(c *term.Console, path string) (engine.SessionStore, error) {
	if path == "" {
		dir, missing := sessionDir(c)
		if dir == "" {
			return nil, term.Usagef("set XDG_STATE_HOME, or name one with --session-store", "there is no directory for sessions: %s is not set", missing)
		}
		path = dir
	}
	return files.Open(path)
}

// sessionDir is the directory of the user that holds sessions, or the variable that is missing.
func sessionDir(c *term.Console) (dir, missing string) {
	return UserDir(c, "sessions", "XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state")
}

// Sessions lists the sessions of a directory, or of the user's where it is "": those that can be read. It makes no
// directory.
func Sessions(ctx context.Context, c *term.Console, path string) []engine.SessionInfo {
	if path == "" {
		path, _ = sessionDir(c)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil
	}
	store, err := files.Open(path)
	if err != nil {
		return nil
	}
	all, _ := store.Sessions(ctx) // beside an error those that can be read
	return all
}

// UserDir is the directory in which this command keeps something for the user: below the variable xdg, else
// where the system has it. Where there is none it tells which variable is missing.
func UserDir(c *term.Console, kept, xdg, windows string, unix ...string) (dir, missing string) {
	home, vars := unix, []string{xdg, "HOME"}
	switch runtime.GOOS {
	case "windows":
		vars, home = []string{xdg, windows}, nil
	case "darwin":
		home = []string{"Library", "Application Support"}
	}
	for i, name := range vars {
		if at := c.Env(name); filepath.IsAbs(at) {
			if i > 0 {
				at = filepath.Join(append([]string{at}, home...)...)
			}
			return filepath.Join(at, "agentscript", kept), ""
		}
	}
	return "", vars[1]
}

// StoreFailure gives the error of a store the exit code of its kind.
func StoreFailure(err error) error {
	e, is := errors.AsType[*engine.Error](err)
	if _, told := errors.AsType[*term.Failure](err); told || !is {
		return err
	}
	return &term.Failure{Code: term.ExitCodeOf(e), Found: diag.List{term.Diagnose(e)}}
}

// StoreVariable names the file in which runs are kept, or turns that off.
const StoreVariable = "AGENTSCRIPT_STORE"

// StorePlace is where runs are kept.
type StorePlace struct {
	Path  string // "" if there is none
	Named bool   // by a flag or a variable
	Off   bool   // the user wants none
	From  string // what names it: --store, the variable, or ""
	Lacks string // the variable that is missing where there is no path
}

// FindStore returns where runs are kept: in the file of --store, in that of the variable, or in the directory of the user.
func FindStore(c *term.Console, flag string) StorePlace {
	if flag != "" {
		return StorePlace{Path: flag, Named: true, From: "--store"}
	}
	switch at := c.Env(StoreVariable); at {
	case "":
	case "off":
		return StorePlace{Off: true, From: StoreVariable}
	default:
		return StorePlace{Path: at, Named: true, From: StoreVariable}
	}
	path, missing := UserDir(c, "runs.db", "XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state")
	return StorePlace{Path: path, Lacks: missing}
}

// Missing reports whether nothing was kept there yet.
func (p StorePlace) Missing() bool {
	if p.Path == "" {
		return true
	}
	_, err := os.Stat(p.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// Last is the word for the newest run.
const Last = "last"

// MatchRun returns the id that a word is, or that it alone is the beginning of, or that of the newest run for [Last]. Where it is neither, others are those of at
// most so many newest runs that begin with it, of all with 0: none if there is no such run.
func MatchRun(ctx context.Context, s engine.Store, word string, most int) (id string, others []string, err error) {
	only := engine.RunFilter{Prefix: word, Limit: most}
	if word == Last {
		only = engine.RunFilter{Limit: 1}
	}
	found, err := s.Runs(ctx, only)
	if err != nil {
		return "", nil, err
	}
	for _, r := range found {
		if r.ID == word || len(found) == 1 {
			return r.ID, nil, nil
		}
		others = append(others, r.ID)
	}
	return "", others, nil
}
