package grant

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Code that can write a command can do everything that the host's user can. Nothing that leads to a granted command can
// therefore be written or removed through fs: the file itself, the directories above it and the links on the way, even
// inside a granted directory.

// guarded is one name on the way to a command.
type guarded struct {
	word string      // the granted command
	at   string      // the path of the name, in a directory without links on the way
	dir  fs.FileInfo // that directory
	file fs.FileInfo // the file with that name, links not followed
}

// maxLinks bounds the links on the way to a command. A command that was found has no more.
const maxLinks = 255

// guard finds the names inside of writable directories that lead to granted commands.
func (g *Grants) guard() {
	for word, file := range g.commands {
		for _, at := range wayTo(file) {
			in := slices.IndexFunc(g.mounts, func(m *mount) bool { return m.write && inside(m.real, at) })
			if in < 0 {
				continue
			}
			dir, err := os.Stat(filepath.Dir(at))
			file, err2 := os.Lstat(at)
			if err != nil || err2 != nil {
				continue // it was removed, and so was the command
			}
			g.guards = append(g.guards, guarded{word, at, dir, file})
			warning := fmt.Sprintf("the command %q is in %q, where the script may write: fs.write and fs.remove do not touch it, but a granted command that writes there may change it, and it may read what the script writes there: better grant it from elsewhere", word, g.mounts[in].given)
			if !slices.Contains(g.warnings, warning) {
				g.warnings = append(g.warnings, warning)
			}
		}
	}
	if len(g.commands) > 0 {
		g.guardPath()
	}
	slices.Sort(g.warnings)
}

// guardPath warns about writable directories on the path: granted commands look up other commands there.
func (g *Grants) guardPath() {
	list, _ := g.lookup("PATH")
	for _, dir := range filepath.SplitList(list) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(real) {
			continue // no command is found there
		}
		for _, m := range g.mounts {
			warning := fmt.Sprintf("%q is on the path and in %q, where the script may write: a granted command may start what the script puts there", dir, m.given)
			if m.write && (real == m.real || inside(m.real, real)) && !slices.Contains(g.warnings, warning) {
				g.warnings = append(g.warnings, warning)
			}
		}
	}
}

// Warnings returns the gaps that remain in what was granted as requested: a command inside of a writable directory, a
// secret that is too short to be hidden.
func (g *Grants) Warnings() []string { return slices.Clone(g.warnings) }

// inside reports whether a path is below a directory. Both must be clean.
func inside(dir, at string) bool {
	rel, err := filepath.Rel(dir, at)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// wayTo lists the names that are looked up on the way to a file, including links, each in a directory without links in
// its path.
func wayTo(file string) (names []string) {
	volume := filepath.VolumeName(file)
	const sep = string(filepath.Separator)
	rest := strings.Split(file[len(volume):], sep)
	at := volume + sep
	for links := 0; len(rest) > 0 && links < maxLinks; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		names = append(names, next)
		target, err := os.Readlink(next)
		if err != nil { // not a link
			at = next
			continue
		}
		links++
		if v := filepath.VolumeName(target); filepath.IsAbs(target) {
			at, target = v+sep, target[len(v):]
		}
		rest = append(strings.Split(filepath.FromSlash(target), sep), rest...)
	}
	return names
}

// refuses returns why a name in an open directory, whose path is at, must not be written or removed: it leads to a
// command. Case is ignored, as some file systems ignore it.
func (g *Grants) refuses(op, shown string, dir *os.Root, name, at string) *engine.Error {
	if len(g.guards) == 0 {
		return nil
	}
	own, err := dir.Stat(".")
	if err != nil {
		return fileError(op, shown, err)
	}
	there, err := dir.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError(op, shown, err)
	}
	for _, c := range g.guards {
		same := os.SameFile(own, c.dir) && strings.EqualFold(name, filepath.Base(c.at)) || strings.EqualFold(at, c.at)
		if same || there != nil && os.SameFile(there, c.file) {
			return c.refusal(op, shown)
		}
	}
	return nil
}

// refusesAt is refuses for a name in a directory that does not exist yet; the caller then does not create it.
func (g *Grants) refusesAt(op, shown, at string) *engine.Error {
	for _, c := range g.guards {
		if strings.EqualFold(at, c.at) {
			return c.refusal(op, shown)
		}
	}
	return nil
}

func (c guarded) refusal(op, shown string) *engine.Error {
	return failed(diag.TouchRefused, "fs.%s: %q is, or leads to, the granted command %q, which scripts do not change", op, shown, c.word).
		WithHelp("write elsewhere, or grant the command from a directory that the script cannot write to")
}
