package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
)

// addRoot adds --root to the flags of a verb that loads scripts.
func addRoot(set *pflag.FlagSet, dir *string) {
	set.StringVar(dir, "root", "", "let load and file read below this `DIR`, instead of the script's own directory")
}

// rooted is what --root says about loading a file; "" says nothing.
func rooted(dir, file string) ([]agentscript.Option, *failure) {
	if dir == "" {
		return nil, nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, usagef("", "--root %s: %s", dir, fileProblem(err))
	case !info.IsDir():
		return nil, usagef("name a directory that holds the script and what it reads", "--root %s: it is no directory", dir)
	case !below(dir, file):
		return nil, usagef("name a directory above the script, or leave --root out", "%s does not lie below --root %s", file, dir)
	}
	return []agentscript.Option{agentscript.WithRoot(dir)}, nil
}

// sharedRoot is the root of a file that is checked together with others: the topmost directory
// above it of which another file was given, so that a part of a flow is checked as the flow loads
// it; else "", the file's own. No directory becomes a root in which nothing was named.
func sharedRoot(file string, files []string) string {
	root := filepath.Dir(file)
	for _, other := range files {
		if dir := filepath.Dir(other); below(dir, root) {
			root = dir
		}
	}
	if root == filepath.Dir(file) {
		return ""
	}
	return root
}

// below tells whether a path lies in a directory or is it, by the paths as they are written.
func below(dir, path string) bool {
	top, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	at, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(top, at)
	return err == nil && filepath.IsLocal(rel)
}
