package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// sessionFlags name the session that a run goes on with.
type sessionFlags struct{ id, store string }

// SessionID returns the session that the run is given, or "".
func (o *RunFlags) SessionID() string { return o.Session.id }

// Opener opens the store in a file. Whoever closes it may be another one that uses the file, too.
type Opener func(ctx context.Context, path string) (s *sqlite.Store, done func() error, err error)

// InSession runs in the session that is named. A replay goes on from what was recorded of it, and
// leaves the session as it is. What it opens is closed with the ports.
func InSession(ctx context.Context, c *term.Console, o *sessionFlags, models *Ports, open Opener) (agentscript.RunOption, error) {
	if models.Replayed != nil {
		if store, id := models.Replayed.Sessions(); id != "" {
			return agentscript.Session(store, id), nil
		}
		return nil, nil
	}
	if o.id == "" {
		return nil, nil
	}
	if models.sessions == nil {
		kept, err := OpenSessions(ctx, c, o.store, open)
		if err != nil {
			return nil, StoreFailure(err)
		}
		models.sessions = kept
	}
	return agentscript.Session(models.sessions, o.id), nil
}

// Sessions are those of a directory, or the user's. Those that an earlier version kept there as files are taken over when
// it is opened. One that could not be, as it is damaged, is an error of whatever is to be done with it, and of nothing
// else.
type Sessions struct {
	*sqlite.Store
	files string // the directory of the files
	left  error  // why some were not taken over
	done  func() error
}

var _ engine.SessionStore = (*Sessions)(nil)

// OpenSessions opens the sessions of a directory, or those of the user. nil opens the file for this use alone.
func OpenSessions(ctx context.Context, c *term.Console, dir string, open Opener) (*Sessions, error) {
	path, files, missing := sessionPlace(c, dir)
	if path == "" {
		return nil, term.Usagef("set XDG_STATE_HOME, or name one with --session-store", "there is no directory for sessions: %s is not set", missing)
	}
	s := &Sessions{files: files}
	var err error
	if open != nil {
		s.Store, s.done, err = open(ctx, path)
	} else if s.Store, err = sqlite.Open(ctx, path); err == nil {
		s.done = s.Store.Close
	}
	if err != nil {
		return nil, err
	}
	_, s.left = s.ImportSessions(ctx, files)
	return s, nil
}

// sessionPlace is the file of sessions, and where an earlier version kept them as files. Where there is no directory of
// the user, it returns the variable that is missing.
func sessionPlace(c *term.Console, dir string) (path, files, missing string) {
	if dir != "" {
		return filepath.Join(dir, storeFile), dir, ""
	}
	if path, missing = userStore(c); path == "" {
		return "", "", missing
	}
	return path, filepath.Join(filepath.Dir(path), "sessions"), ""
}

// storeFile is the name of a store's file in a directory.
const storeFile = "runs.db"

// userStore is the file of the user's runs and sessions, or the variable that is missing.
func userStore(c *term.Console) (path, missing string) {
	return UserDir(c, storeFile, "XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state")
}

// FindSessions opens the sessions of a directory, or those of the user, to be looked at: it makes no file.
func FindSessions(ctx context.Context, c *term.Console, dir string) (s engine.SessionStore, done func() error, err error) {
	if noSessions(c, dir) {
		return &session.Memory{}, func() error { return nil }, nil
	}
	kept, err := OpenSessions(ctx, c, dir, nil)
	if err != nil {
		return nil, nil, err
	}
	return kept, kept.Close, nil
}

// noSessions reports whether nothing is in a directory, or in the user's, that may hold sessions.
func noSessions(c *term.Console, dir string) bool {
	path, files, _ := sessionPlace(c, dir)
	if path == "" {
		return false // which is an error when they are opened
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	old, err := os.ReadDir(files)
	return (err == nil || errors.Is(err, fs.ErrNotExist)) && !slices.ContainsFunc(old, func(f os.DirEntry) bool { return strings.HasSuffix(f.Name(), ".session") })
}

// OpenSession implements [engine.SessionStore].
func (s *Sessions) OpenSession(ctx context.Context, id, script string) (engine.OpenSession, error) {
	if err := s.ImportSession(ctx, s.files, id); err != nil {
		return nil, err
	}
	return s.Store.OpenSession(ctx, id, script)
}

// Sessions implements [engine.SessionStore].
func (s *Sessions) Sessions(ctx context.Context) ([]engine.SessionInfo, error) {
	all, err := s.Store.Sessions(ctx)
	return all, errors.Join(err, s.left)
}

// ReadSession implements [engine.SessionStore].
func (s *Sessions) ReadSession(ctx context.Context, id string) (map[string]engine.Entry, error) {
	if err := s.ImportSession(ctx, s.files, id); err != nil {
		return nil, err
	}
	return s.Store.ReadSession(ctx, id)
}

// DeleteSession implements [engine.SessionStore]. The files of the session go, too: one that could not be taken over, where
// the store has none of that name, and what remains of one that was.
func (s *Sessions) DeleteSession(ctx context.Context, id string) error {
	left := s.ImportSession(ctx, s.files, id)
	err := s.Store.DeleteSession(ctx, id)
	none := errors.Is(err, &engine.Error{Kind: engine.KindInput, Code: diag.BadSession})
	if err != nil && !none || err == nil && left != nil { // of two of one name the one that is shown goes
		return err
	}
	removed, wrong := sqlite.RemoveSessionFiles(s.files, id)
	if wrong != nil || removed && none {
		return wrong
	}
	return err
}

// Close gives back what was opened.
func (s *Sessions) Close() error { return s.done() }

// KnownSessions lists the sessions of a directory, or of the user's where it is "": those that can be read. It makes no
// file, and takes nothing over.
func KnownSessions(ctx context.Context, c *term.Console, dir string) []engine.SessionInfo {
	path, _, _ := sessionPlace(c, dir)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil
	}
	defer store.Close()           // it is only read
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
	path, missing := userStore(c)
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

// Empty reports whether a file is there that holds nothing: less than the head of a store.
func (p StorePlace) Empty() bool {
	at, err := os.Stat(p.Path)
	return err == nil && at.Mode().IsRegular() && at.Size() < 100
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
