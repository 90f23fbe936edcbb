package keep

import (
	"errors"
	"io/fs"
	"os"

	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

const (
	variable = "AGENTSCRIPT_STORE"
	fileName = "runs.db"
)

// Place is where runs are kept.
type Place struct {
	Path  string // "" if there is none
	Named bool   // by a flag or a variable
	Off   bool   // the user wants none
	From  string // what names it: --store, the variable, or ""
	lacks string // the variable that is missing where there is no path
}

// Find returns where runs are kept: in the file of --store, in that of the variable, or in the directory of the user.
func Find(c *term.Console, flag string) Place {
	if flag != "" {
		return Place{Path: flag, Named: true, From: "--store"}
	}
	switch at := c.Env(variable); at {
	case "":
	case "off":
		return Place{Off: true, From: variable}
	default:
		return Place{Path: at, Named: true, From: variable}
	}
	path, missing := setup.UserDir(c, fileName, "XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state")
	return Place{Path: path, lacks: missing}
}

// Missing reports whether nothing was kept there yet.
func (p Place) Missing() bool {
	if p.Path == "" {
		return true
	}
	_, err := os.Stat(p.Path)
	return errors.Is(err, fs.ErrNotExist)
}
