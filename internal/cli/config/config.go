// Package config shows the defaults for a script: each value, and where it came from.
package config

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// shown is the answer of `config --json`.
type shown struct {
	File     string            `json:"file,omitempty"`  // the project file
	Above    string            `json:"above,omitempty"` // the next one above it, which is not read
	Settings []project.Setting `json:"settings"`
}

// Verb prints the defaults for a script, or for the scripts of the current directory.
func Verb(c *term.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config [FILE]",
		Short: "Show the defaults of a project, and where each comes from",
		Long: `Config prints the defaults that apply to FILE, or to the scripts of the current directory: each value, and where it comes
from. A flag of the command line overrides the project file agentscript.toml, which overrides the environment.

The project file is in the script's directory or in the nearest one above it, up to the root of the repository.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			switch {
			case len(args) > 1:
				return term.Usagef("usage: "+cmd.UseLine(), "config takes one FILE, and got %q as well", args[1])
			case len(args) == 1:
				if problem := setup.Readable(args[0]); problem != nil {
					return problem
				}
				dir = filepath.Dir(args[0])
			}
			settings, problem := project.Open(dir, c.LookupEnv)
			if problem != nil {
				return problem
			}
			all := shown{File: settings.Path, Settings: settings.List()}
			if all.File != "" {
				all.Above = project.Above(all.File)
			}
			if err := c.PrintAs(asJSON, all, all.String); err != nil {
				return err
			}
			registry, problem := setup.Registry(c, "", "")
			if problem == nil {
				problem = settings.Wrong(registry.Check)
			}
			if problem != nil {
				return problem
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// String formats the answer for people: a line for each value.
func (s shown) String() string {
	head := "no " + project.FileName + " is here or above"
	if s.File != "" {
		head = text.Visible(s.File)
	}
	if s.Above != "" {
		head += "\n" + text.Visible(s.Above) + " is above it, and not read"
	}
	return head + "\n\n" + term.Table(3, func(w io.Writer) {
		fmt.Fprintln(w, "KEY\tVALUE\tFROM")
		for _, set := range s.Settings {
			value := text.Visible(set.Text)
			if value == "" {
				value = "-"
			}
			from := set.From
			if rest, ok := strings.CutPrefix(from, s.File+":"); ok && s.File != "" {
				from = project.FileName + ":" + rest
			}
			fmt.Fprintf(w, "%s.%s\t%s\t%s\n", set.Table, text.Visible(set.Key), value, from)
		}
	})
}
