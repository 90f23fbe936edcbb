package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// readable refuses what cannot be a script before it is loaded: a missing file, a directory,
// a file that may not be read.
func readable(path string) *failure {
	if path == "" {
		return usagef("write the path of a script; a variable of the shell may be empty", "the name of the FILE is empty")
	}
	if path == "-" {
		return usagef("`-` stands for an input; a script reads its neighbours and so needs a place", "a script is read from a file, not from stdin")
	}
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return usagef(diag.DidYouMean(filepath.Base(path), scriptsIn(filepath.Dir(path))), "%s: there is no such file", path)
	case err != nil:
		return usagef("", "%s: %s", path, fileProblem(err))
	case info.IsDir():
		help := "name a script: a file that ends in .star"
		if found := scriptsIn(path); len(found) > 0 {
			help = "name a script in it: " + strings.Join(found, ", ")
		}
		return usagef(help, "%s is a directory", path)
	case !info.Mode().IsRegular(): // it is read more than once, and a pipe gives what it has once
		return usagef("save the script in a file first", "%s is a pipe or a device, and a script is a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return usagef("", "%s: %s", path, fileProblem(err))
	}
	_ = f.Close() // it was only opened to see whether it can be
	return nil
}

// scriptsIn lists the scripts of a directory, for suggestions.
func scriptsIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".star") {
			names = append(names, e.Name())
		}
	}
	return names
}

// script is a loaded script and what a run of it begins with.
type script struct {
	*agentscript.Module
	file string
	main *starlib.Entry // nil when there is none, for which missing is the reason
	none *diag.Diagnostic
}

// load reads and checks a script. What is wrong with it ends the command; what it prints
// while it loads is progress.
func (c *command) load(ctx context.Context, file, root string, opts ...agentscript.Option) (*script, error) {
	if f := readable(file); f != nil {
		return nil, f
	}
	if isFlow(file) {
		return nil, flowOnlyChecked(file)
	}
	within, f := rooted(root, file)
	if f != nil {
		return nil, f
	}
	m, err := c.engine(append(within, opts...)...).LoadFile(ctx, file)
	if err != nil {
		return nil, loadFailure(file, err)
	}
	s := &script{Module: m, file: file}
	s.main, s.none = m.Main()
	return s, nil
}

func (c *command) engine(opts ...agentscript.Option) *agentscript.Engine {
	return agentscript.New(append(opts, agentscript.WithPrint(func(_ diag.Pos, said string) {
		switch { // a stderr that is gone cannot be told
		case c.printed:
		case c.json:
			(&jsonLines{w: c.jsonOut()}).event(engine.Event{Kind: engine.EventLog, At: time.Now(), Data: &engine.LogData{Text: said}})
		default:
			_, _ = fmt.Fprintln(c.stderr, text.Terminal(said))
		}
	}))...)
}

// node is the node that main is, nil when it is a function or missing.
func (s *script) node() *engine.Node {
	if s.main == nil {
		return nil
	}
	return s.main.Node
}

// nodeNames lists the globals that hold nodes.
func (s *script) nodeNames() []string {
	var names []string
	for _, name := range s.Names() {
		if s.Node(name) != nil {
			names = append(names, name)
		}
	}
	return names
}
