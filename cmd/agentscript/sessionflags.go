package main

import (
	"cmp"
	"path/filepath"
	"runtime"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal/files"
)

// sessionFlags name the session that a run goes on with.
type sessionFlags struct{ id, store string }

func (o *sessionFlags) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.id, "session", "", "go on with the conversation and the notes of this session `ID`, or begin it")
	f.StringVar(&o.store, "session-store", "", "keep sessions in this `DIR` instead of the one of the user")
}

func (o *sessionFlags) valid(set *pflag.FlagSet) *failure {
	switch {
	case set.Changed("session"):
		if err := engine.CheckSessionID(o.id); err != nil {
			return usagef(helpOf(err), "--session: %s", err)
		}
	case set.Changed("session-store"):
		return usagef("", "--session-store is of use with --session alone")
	}
	if set.Changed("session-store") && o.store == "" {
		return usagef("", "--session-store needs the name of a directory")
	}
	return nil
}

// inSession gives the session that is named to a run. A replay goes on from what was recorded of it, and
// leaves the session as it is.
func (c *command) inSession(o *sessionFlags, models *modelSetup) (agentscript.RunOption, error) {
	if models.replayed != nil {
		store, id := models.replayed.Sessions()
		if id = cmp.Or(o.id, id); id == "" {
			return nil, nil
		}
		return agentscript.Session(store, id), nil
	}
	if o.id == "" {
		return nil, nil
	}
	store, err := c.sessionStore(o.store)
	if err != nil {
		return nil, storeFailure(err)
	}
	if models.recorder != nil {
		store = models.recorder.Sessions(store)
	}
	return agentscript.Session(store, o.id), nil
}

// sessionStore opens the store in a directory, or that of the user.
func (c *command) sessionStore(path string) (engine.SessionStore, error) {
	if path == "" {
		dir, problem := c.stateDir()
		if problem != nil {
			return nil, problem
		}
		path = filepath.Join(dir, "sessions")
	}
	return files.Open(path)
}

// stateDir is where this command keeps what outlives it: XDG_STATE_HOME, else what the system has
// for it.
func (c *command) stateDir() (string, *failure) {
	dir, missing := c.userDir("XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state")
	if dir == "" {
		return "", usagef("set XDG_STATE_HOME, or name one with --session-store", "there is no directory for sessions: %s is not set", missing)
	}
	return dir, nil
}

// userDir is a directory of the user for this command: below the variable xdg, else where the system has
// it. Where there is none it tells which variable is missing.
func (c *command) userDir(xdg, windows string, unix ...string) (dir, missing string) {
	home, vars := unix, []string{xdg, "HOME"}
	switch runtime.GOOS {
	case "windows":
		vars, home = []string{xdg, windows}, nil
	case "darwin":
		home = []string{"Library", "Application Support"}
	}
	for i, name := range vars {
		if at := c.env(name); filepath.IsAbs(at) {
			if i > 0 {
				at = filepath.Join(append([]string{at}, home...)...)
			}
			return filepath.Join(at, "agentscript"), ""
		}
	}
	return "", vars[1]
}

func helpOf(err error) string {
	if e, ok := err.(*engine.Error); ok {
		return e.Help
	}
	return ""
}
