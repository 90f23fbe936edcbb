// Package scaffold makes new projects from templates.
package scaffold

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/lazy"
)

// templates has a directory for each kind, and one with the files that every kind has. PROJECT stands for the project's
// name. A suffix .txt is removed from names; it makes the files of a Go module plain data here.
//
//go:embed templates
var templates embed.FS

// every is the directory of the files that every kind has.
const every = "every"

// kinds are the templates, in the order of the help.
var kinds = []struct{ name, is string }{
	{"agent", "one agent with a typed answer"},
	{"pipeline", "consecutive steps, with a loop that improves a text"},
	{"branch", "a decision that sends its input to one of several routes"},
	{"tools", "an agent that calls functions of the script"},
	{"mcp", "an agent with the tools of an MCP server"},
	{"host", "a Go program that contains a flow"},
	{"test", "a flow with a person and a failing provider, with tests for both"},
}

func kindNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Verb returns the verb that makes a directory with a new project.
func Verb(c *term.Console) *cobra.Command {
	kind := ""
	var list strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&list, "  %-9s %s\n", k.name, k.is)
	}
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a new project",
		Long: `New creates the directory NAME with a flow that works: it passes check, is formatted, has tests, and runs offline with the
answers next to it. Nothing is overwritten: it is an error if NAME exists. The kinds are

` + list.String(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return term.Usagef("usage: "+cmd.UseLine(), "new takes one NAME, and got %d", len(args))
			}
			return create(c, args[0], kind)
		},
	}
	cmd.Flags().StringVar(&kind, "kind", kinds[0].name, "`agent`, "+strings.Join(kindNames()[1:len(kindNames())-1], ", ")+" or "+kindNames()[len(kindNames())-1])
	return cmd
}

// projectName matches the names of projects, which must also be names of Go modules.
var projectName = lazy.Regexp(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// create creates the whole project, or nothing.
func create(c *term.Console, name, kind string) error {
	switch {
	case !slices.Contains(kindNames(), kind):
		return term.Usagef(cmp.Or(diag.DidYouMean(kind, kindNames()), "the kinds are "+strings.Join(kindNames(), ", ")), "there is no kind %q", kind)
	case strings.ContainsAny(name, `/\`):
		return term.Usagef("change to the directory in which it is to be made first", "%q is a path, and a project has a name", name)
	case !projectName().MatchString(name):
		return term.Usagef("a name begins with a letter and has letters, digits, - and _, 64 at most", "%q is no name of a project", name)
	}
	err := os.Mkdir(name, 0o777) // fails if anything with this name exists, even a broken link
	switch {
	case errors.Is(err, fs.ErrExist):
		return term.Usagef("choose another name; nothing was written", "%s exists already", name)
	case err != nil:
		return term.Usagef("", "%s: %s", name, term.FileProblem(err))
	}
	made, next, err := write(name, kind)
	if err != nil {
		return &term.Failure{Code: term.ExitFailed, Found: diag.List{{Message: fmt.Sprintf("%s could not be made: %s", name, errors.Join(err, os.RemoveAll(name)))}}}
	}
	if err := c.Print(strings.Join(made, "\n")); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(c.Stderr, "\nnext:\n  cd %s\n%s", name, next) // if stderr fails, there is nowhere to report it
	return nil
}

// write fills the new directory. It returns the files, and the commands in the flow's docstring.
func write(name, kind string) (made []string, next string, err error) {
	for _, dir := range []string{kind, every} {
		entries, err := templates.ReadDir(path.Join("templates", dir))
		if err != nil {
			return nil, "", err
		}
		for _, e := range entries {
			data, err := templates.ReadFile(path.Join("templates", dir, e.Name()))
			if err != nil {
				return nil, "", err
			}
			text := strings.ReplaceAll(string(data), "PROJECT", name)
			to := filepath.Join(name, strings.TrimSuffix(e.Name(), ".txt"))
			if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
				return nil, "", err
			}
			made = append(made, to)
			if e.Name() == "flow.star" {
				next = commands(text)
			}
		}
	}
	return made, next, nil
}

// commands returns the indented lines of a script's docstring.
func commands(script string) string {
	_, doc, _ := strings.Cut(script, `"""`)
	doc, _, _ = strings.Cut(doc, `"""`)
	var b strings.Builder
	for line := range strings.Lines(doc) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			b.WriteString("  " + command)
		}
	}
	return b.String()
}
