package beside

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// longestLook is how long a program is asked how a word goes on: somebody waits at the keyboard.
const longestLook = 2 * time.Second

// completes has a program of its own complete its verbs, flags and arguments.
func completes(name string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		path := Find(name)
		if path == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), longestLook)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, append(append([]string{cobra.ShellCompRequestCmd}, args...), typed)...)
		var out strings.Builder
		cmd.Stdout = &out
		if cmd.Run() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return parsed(out.String())
	}
}

// parsed reads what a program answers: words, and in the last line what the shell is to make of them.
func parsed(out string) ([]string, cobra.ShellCompDirective) {
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(lines[len(lines)-1], ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lines[:len(lines)-1], cobra.ShellCompDirective(n)
}
