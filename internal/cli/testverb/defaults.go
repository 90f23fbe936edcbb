package testverb

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// dirOf returns the directory whose project the paths belong to: that of the first path.
func dirOf(paths []string) string {
	if info, err := os.Stat(paths[0]); err == nil && info.IsDir() {
		return paths[0]
	}
	return filepath.Dir(paths[0])
}

// defaults sets flags that were not given to the values of a directory's project. Its thresholds apply with --cover.
func defaults(c *term.Console, set *pflag.FlagSet, dir string) (*project.Settings, *term.Failure) {
	settings, problem := project.Open(dir, c.LookupEnv)
	if problem != nil {
		return nil, problem
	}
	if problem := settings.Fill(project.Test, set); problem != nil {
		return nil, problem
	}
	if set.Changed("live") { // the cost of models is limited as in a run
		if problem := settings.Fill(project.Run, set, "max-model-calls", "max-tokens", "max-usd"); problem != nil {
			return nil, problem
		}
	}
	c.Defaults = project.Filled(set)
	var least []string
	for _, name := range []string{"lines", "edges"} {
		if percent := settings.Text(project.Test, name); percent != "" {
			least = append(least, name+"="+percent)
		}
	}
	if least == nil || !set.Changed("cover") || set.Changed("threshold") {
		return settings, nil
	}
	if err := set.Set("threshold", strings.Join(least, ",")); err != nil {
		return nil, term.Usagef("", "%s: %v", settings.Path, err)
	}
	return settings, nil
}
