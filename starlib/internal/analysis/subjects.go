package analysis

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// agents lists the names of the script's agents.
func (v *View) agents() (out []string) {
	for _, n := range v.State.Session.Nodes() {
		if a := n.Agent(); a != nil && a.Name != "" && !slices.Contains(out, a.Name) {
			out = append(out, a.Name)
		}
	}
	slices.Sort(out)
	return out
}

// mostFiles bounds the files of a directory that are looked at.
const mostFiles = 500

// files lists the files that a path may name, below the script's directory.
func (v *View) files(typed, suffix string) (out []Candidate) {
	if v.FS == nil {
		return nil
	}
	dir := ""
	if i := strings.LastIndexByte(typed, '/'); i >= 0 {
		dir = typed[:i+1]
	}
	in := path.Join(v.Dir, dir)
	if !fs.ValidPath(in) {
		return nil
	}
	entries, err := fs.ReadDir(v.FS, in)
	if err != nil {
		return nil // there is nothing to offer
	}
	for _, e := range entries[:min(len(entries), mostFiles)] {
		name := dir + e.Name()
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			out = append(out, Candidate{name + "/", name + "/", "file", "a directory"})
		case strings.HasSuffix(name, suffix):
			out = append(out, Candidate{name, name, "file", ""})
		}
	}
	return out
}
