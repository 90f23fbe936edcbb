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

// sessionFlags name the session that a run continues.
type sessionFlags struct{ id, store string }

// SessionID returns the session that the run is given, or "".
func (o *RunFlags) SessionID() string { return o.Session.id }

// Opener opens the store in a file. Whoever closes it may be another one that uses the file, too.
type Opener func(ctx context.Context, path string) (s *sqlite.Store, done func() error, err error)

// InSession returns the option to run in the named session. A replay continues from the recorded state of the session,
// and leaves the session unchanged. What InSession opens is closed with the ports.
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

// Sessions are the sessions of a directory, or the user's. Opening a session imports it if an earlier version kept it
// there as a file. A session that is damaged and could not be imported causes errors only for operations on it.
type Sessions struct {
	*sqlite.Store
	files string // the directory of the files
	left  error  // why some were not imported
	done  func() error
}

var _ engine.SessionStore = (*Sessions)(nil)

// OpenSessions opens the sessions of a directory, or those of the user. A nil open opens the file only for this use.
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

// sessionPlace returns the file of sessions, and the directory where an earlier version kept them as files. If the user
// has no directory, it returns the missing variable.
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

// userStore returns the file of the user's runs and sessions, or the missing variable.
func userStore(c *term.Console) (path, missing string) {
	return UserDir(c, storeFile, "XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state")
}

// FindSessions opens the sessions of a directory, or those of the user, for reading: it creates no file.
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

// noSessions reports whether there is nothing in a directory, or in the user's, that may hold sessions.
func noSessions(c *term.Console, dir string) bool {
	path, files, _ := sessionPlace(c, dir)
	if path == "" {
		return false // opening it reports the error
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

// DeleteSession implements [engine.SessionStore]. It also deletes the files of the session: a file that could not be
// imported, if the store has no session with that name, and the remains of one that was imported.
func (s *Sessions) DeleteSession(ctx context.Context, id string) error {
	left := s.ImportSession(ctx, s.files, id)
	err := s.Store.DeleteSession(ctx, id)
	none := errors.Is(err, &engine.Error{Kind: engine.KindInput, Code: diag.BadSession})
	if err != nil && !none || err == nil && left != nil { // of two with one name, the one that is shown is deleted
		return err
	}
	removed, wrong := sqlite.RemoveSessionFiles(s.files, id)
	if wrong != nil || removed && none {
		return wrong
	}
	return err
}

// Close releases what was opened.
func (s *Sessions) Close() error { return s.done() }

// KnownSessions lists the readable sessions of a directory, or of the user's if it is "". It creates no file, and
// imports nothing.
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
	all, _ := store.Sessions(ctx) // next to an error, it returns those that could be read
	return all
}

// UserDir returns the directory in which this command keeps the user's data: below the variable xdg, or in the system's
// default place. If there is none, it returns the missing variable.
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

// StoreFailure adds to the error of a store the exit code of its kind.
func StoreFailure(err error) error {
	e, is := errors.AsType[*engine.Error](err)
	if _, told := errors.AsType[*term.Failure](err); told || !is {
		return err
	}
	return &term.Failure{Code: term.ExitCodeOf(e), Found: diag.List{term.Diagnose(e)}}
}

// StoreVariable names the file that stores runs, or turns storing off.
const StoreVariable = "AGENTSCRIPT_STORE"

// StorePlace is where runs are stored.
type StorePlace struct {
	Path  string // "" if there is none
	Named bool   // named by a flag or a variable
	Off   bool   // storing is turned off
	From  string // what names it: --store, the variable, or ""
	Lacks string // the missing variable if there is no path
}

// FindStore returns where runs are stored: in the file of --store, in that of the variable, or in the directory of the
// user.
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

// Missing reports whether nothing was stored there yet.
func (p StorePlace) Missing() bool {
	if p.Path == "" {
		return true
	}
	_, err := os.Stat(p.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// Empty reports whether the file exists but holds nothing: less than the header of a store.
func (p StorePlace) Empty() bool {
	at, err := os.Stat(p.Path)
	return err == nil && at.Mode().IsRegular() && at.Size() < 100
}

// Last is the word that means the newest run.
const Last = "last"

// MatchRun returns the id of the run that a word means: the id itself, a prefix of only one id, or [Last] for the
// newest run. If it is a prefix of several ids, others lists them, at most the newest most runs, or all if most is 0.
// If there is no such run, others is empty.
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
