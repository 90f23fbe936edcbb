package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// write writes a version of modules of the repository at root, given by their directories, in the layout of a module
// proxy below out.
func write(root, out, version string, modules []string) error {
	files, err := tracked(root)
	if err != nil {
		return err
	}
	paths := map[string]string{}
	for _, dir := range modules {
		if paths[dir], err = command(filepath.Join(root, dir), "go", "list", "-m"); err != nil {
			return err
		}
	}
	for _, dir := range modules {
		mod, err := required(filepath.Join(root, dir, "go.mod"), version, paths)
		if err != nil {
			return err
		}
		archive, err := zipped(root, dir, paths[dir]+"@"+version+"/", files, mod)
		if err != nil {
			return err
		}
		to := filepath.Join(out, filepath.FromSlash(paths[dir]), "@v")
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		for name, text := range map[string][]byte{
			version + ".info": fmt.Appendf(nil, "{\"Version\":%q}\n", version),
			version + ".mod":  mod,
			version + ".zip":  archive,
			"list":            []byte(version + "\n"),
		} {
			if err := os.WriteFile(filepath.Join(to, name), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// tracked lists the files that git tracks, and those that it does not ignore.
func tracked(root string) ([]string, error) {
	out, err := command(root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	files := strings.Split(strings.Trim(out, "\x00"), "\x00")
	slices.Sort(files)
	return slices.Compact(files), nil
}

// required returns a go.mod in which modules of this repository are required at the written version.
func required(file, version string, paths map[string]string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	edited := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(edited, text, 0o644); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if !bytes.Contains(text, []byte("\nreplace "+path+" => ")) {
			continue
		}
		if _, err := command(dir, "go", "mod", "edit", "-dropreplace="+path, "-require="+path+"@"+version, edited); err != nil {
			return nil, err
		}
	}
	if text, err = os.ReadFile(edited); err != nil {
		return nil, err
	}
	if bytes.Contains(text, []byte("\nreplace ")) {
		return nil, fmt.Errorf("%s replaces a module that is not released: its commands cannot be installed", file)
	}
	return text, nil
}

// zipped returns the archive of a module. Every module gets the licence, which is at the root.
func zipped(root, dir, prefix string, files []string, mod []byte) ([]byte, error) {
	var b bytes.Buffer
	to := zip.NewWriter(&b)
	put := func(name string, text []byte) error {
		w, err := to.Create(prefix + name)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	for _, file := range files {
		name, below := strings.CutPrefix(file, dir+"/")
		if dir == "." {
			name, below = file, true
		}
		if !below && file == "LICENSE" {
			name, below = file, true
		}
		if !below || elsewhere(root, dir, file) {
			continue
		}
		is, err := os.Lstat(filepath.Join(root, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, but not yet committed
		}
		if err != nil {
			return nil, err
		}
		if !is.Mode().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		if name == "go.mod" {
			text = mod
		}
		if err := put(name, text); err != nil {
			return nil, err
		}
	}
	err := to.Close()
	return b.Bytes(), err
}

// elsewhere reports whether a file belongs to a module below the one in dir, or to none.
func elsewhere(root, dir, file string) bool {
	for at := path.Dir(file); at != dir && at != "."; at = path.Dir(at) {
		if _, err := os.Stat(filepath.Join(root, at, "go.mod")); err == nil || path.Base(at) == "vendor" {
			return true
		}
	}
	return false
}

// command runs a command in a directory, and returns what it prints.
func command(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, failed.String())
	}
	return strings.TrimSpace(string(out)), nil
}
