package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Package is the go command's description of one package.
type Package struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string // of non-test files
	Module     *Module
	Error      *struct{ Err string }
}

// Module is the module of a package.
type Module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *Module
}

// Graph is a set of packages with everything that they link, by import path.
type Graph map[string]*Package

// Systems are the operating systems whose files determine what is imported.
var Systems = []string{"linux", "darwin", "windows"}

// List asks the go command for the packages matching patterns below dir and everything that they link on any of the
// systems, built without cgo.
func List(dir string, patterns ...string) (Graph, error) {
	graph := Graph{}
	for _, system := range Systems {
		if err := graph.list(system, dir, patterns); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
	}
	return graph, nil
}

// list adds what is linked on one system.
func (g Graph) list(system, dir string, patterns []string) error {
	cmd := exec.Command("go", append([]string{"list", "-e", "-deps",
		"-json=ImportPath,Dir,Standard,Imports,Module,Error", "--"}, patterns...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+system)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(Package)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Error != nil {
			return fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		if other := g[p.ImportPath]; other != nil {
			p.Imports = slices.Concat(p.Imports, other.Imports)
			slices.Sort(p.Imports)
			p.Imports = slices.Compact(p.Imports)
		}
		g[p.ImportPath] = p
	}
}

// matching returns the non-standard packages that one of the patterns matches, sorted.
func (g Graph) matching(patterns ...string) []string {
	var paths []string
	for path, p := range g {
		if !p.Standard && matchAny(patterns, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// ways returns, for each package that from links, a shortest path of imports to it. It searches breadth-first over
// sorted imports, so that the answer is the same on each run.
func (g Graph) ways(from string) [][]string {
	seen := map[string]bool{from: true}
	queue := [][]string{{from}}
	for i := 0; i < len(queue); i++ {
		way := queue[i]
		p := g[way[len(way)-1]]
		if p == nil {
			continue
		}
		for _, imp := range p.Imports {
			if !seen[imp] {
				seen[imp] = true
				queue = append(queue, append(slices.Clone(way), imp))
			}
		}
	}
	return queue[1:]
}

func matchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, path) })
}

// match reports whether an import path is the pattern, or below it if the pattern ends in "/...".
func match(pattern, path string) bool {
	base, tree := strings.CutSuffix(pattern, "/...")
	return path == base || tree && strings.HasPrefix(path, base+"/")
}
