// Package beside runs commands that are separate programs: they are next to this one, or on the path.
package beside

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// Temporal runs scripts on a Temporal server. The command is in a separate module, which links what it needs.
func Temporal(c *term.Console) *cobra.Command {
	return &cobra.Command{
		Use:                "temporal VERB",
		Short:              "Run scripts on Temporal, with the command agentscript-temporal",
		DisableFlagParsing: true,
		ValidArgsFunction:  completes("agentscript-temporal"),
		RunE: func(_ *cobra.Command, args []string) error {
			path := Find("agentscript-temporal")
			if path == "" {
				return term.Usagef("go install github.com/agentscript/agentscript/temporal/cmd/agentscript-temporal@"+at(c.Version)+" installs it",
					"there is no command agentscript-temporal, neither next to agentscript nor on the path")
			}
			return Run(c, path, args...)
		},
	}
}

// at returns the version of a command that matches this one.
func at(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return "latest"
}

// Find returns the path of a program next to this one, or of one on the path, or "" if there is none.
func Find(name string) string {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		file := filepath.Join(filepath.Dir(self), name)
		if runtime.GOOS == "windows" {
			file += ".exe"
		}
		if at, err := exec.LookPath(file); err == nil {
			return at
		}
	}
	at, err := exec.LookPath(name)
	if err != nil { // a program in the working directory is not used either
		return ""
	}
	return at
}

// Run replaces this program by another: it gets this program's terminal, and its exit code becomes this program's.
func Run(c *term.Console, path string, args ...string) error {
	code, err := c.Exec(path, args)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return &term.Failure{Code: exit.ExitCode()}
	case err != nil:
		return term.Usagef("", "%s cannot be run: %s", path, term.FileProblem(err))
	case code != 0:
		return &term.Failure{Code: code}
	}
	return nil
}
