package testverb

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// defaults sets the flags that nobody gave to what the project of the first path says. Its thresholds hold with --cover.
func defaults(c *term.Console, set *pflag.FlagSet, paths []string) *term.Failure {
	dir := "."
	if len(paths) > 0 {
		if dir = paths[0]; !isDir(dir) {
			dir = filepath.Dir(dir)
		}
	}
	settings, problem := project.Open(dir, c.LookupEnv)
	if problem != nil {
		return problem
	}
	if problem := settings.Fill(project.Test, set); problem != nil {
		return problem
	}
	var least []string
	for _, name := range []string{"lines", "edges"} {
		if percent := settings.Text(project.Test, name); percent != "" {
			least = append(least, name+"="+percent)
		}
	}
	if least == nil || !set.Changed("cover") || set.Changed("threshold") {
		return nil
	}
	if err := set.Set("threshold", strings.Join(least, ",")); err != nil {
		return term.Usagef("", "%s: %v", settings.Path, err)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
