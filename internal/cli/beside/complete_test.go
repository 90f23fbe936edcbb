//go:build unix

package beside

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

// A separate program completes its words. One that is missing, fails or answers something else completes none.
func TestCompletes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		name, does string
		words      []string
		what       cobra.ShellCompDirective
	}{
		{"says", `printf '%s\n' "$1 $2 $3	first" "second" ":4"`, []string{"__complete runs x\tfirst", "second"}, cobra.ShellCompDirectiveNoFileComp},
		{"none", `echo :0`, []string{}, cobra.ShellCompDirectiveDefault},
		{"fails", `echo word; exit 1`, nil, cobra.ShellCompDirectiveNoFileComp},
		{"old", `echo usage`, nil, cobra.ShellCompDirectiveNoFileComp},
		{"missing", "", nil, cobra.ShellCompDirectiveNoFileComp},
	} {
		if c.does != "" {
			if err := os.WriteFile(filepath.Join(dir, c.name), []byte("#!/bin/sh\n"+c.does+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		words, what := completes(c.name)(nil, []string{"runs"}, "x")
		if !slices.Equal(words, c.words) || what != c.what {
			t.Errorf("%s: %q %d, want %q %d", c.name, words, what, c.words, c.what)
		}
	}
}
