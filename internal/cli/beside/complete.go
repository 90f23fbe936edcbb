package beside

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// longestLook bounds how long a program may take to complete a word: a person is waiting at the keyboard.
const longestLook = 2 * time.Second

// completes lets a separate program complete its verbs, flags and arguments.
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

// parsed reads a program's answer: words, and in the last line a directive for the shell.
func parsed(out string) ([]string, cobra.ShellCompDirective) {
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(lines[len(lines)-1], ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lines[:len(lines)-1], cobra.ShellCompDirective(n)
}
