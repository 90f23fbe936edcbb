package main

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/arch"
)

// tree creates a repository of files, by their paths.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := command(root, "git", "init", "-q"); err != nil {
		t.Skip("no git: ", out, err)
	}
	return root
}

var small = map[string]string{
	"LICENSE":         "terms",
	".gitignore":      "bin\n",
	"go.mod":          "module example.test/a\n\ngo 1.26.0\n",
	"a.go":            "package a\n",
	"bin/made":        "by the build",
	"below/go.mod":    "module example.test/a/below\n\ngo 1.26.0\n\nrequire example.test/a v0.0.0\n\nreplace example.test/a => ../\n",
	"below/cmd/m.go":  "package main\n\nimport _ \"example.test/a\"\n\nfunc main() { print(\"it runs\") }\n",
	"below/deep/x.go": "package deep\n",
	"bench/go.mod":    "module example.test/a/bench\n",
	"bench/b.go":      "package bench\n",
}

// The go command accepts the written files as modules.
func TestWrite(t *testing.T) {
	out := t.TempDir()
	if err := write(tree(t, small), out, "v0.0.0-test", []string{".", "below"}); err != nil {
		t.Fatal(err)
	}
	for mod, want := range map[string][]string{
		"example.test/a":       {".gitignore", "LICENSE", "a.go", "go.mod"},
		"example.test/a/below": {"LICENSE", "cmd/m.go", "deep/x.go", "go.mod"},
	} {
		r, err := zip.OpenReader(filepath.Join(out, mod, "@v", "v0.0.0-test.zip"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range r.File {
			got = append(got, strings.TrimPrefix(f.Name, mod+"@v0.0.0-test/"))
		}
		_ = r.Close() // it was read
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s holds %q, want %q", mod, got, want)
		}
	}
	if got := install(t, out, "off", "example.test/a/below/cmd@v0.0.0-test"); got != "it runs" {
		t.Errorf("the command says %q", got)
	}
}

// A module that replaces what is not released cannot be installed, and is not written.
func TestForeignReplacement(t *testing.T) {
	files := map[string]string{"LICENSE": "terms", "go.mod": "module example.test/a\n\ngo 1.26.0\n\nrequire example.test/b v0.0.0\n\nreplace example.test/b => ./b\n", "b/go.mod": "module example.test/b\n"}
	if err := write(tree(t, files), t.TempDir(), "v0.0.0-test", []string{"."}); err == nil || !strings.Contains(err.Error(), "replaces a module that is not released") {
		t.Errorf("%v", err)
	}
}

// The command for runs on Temporal is installed by its path, outside of any clone, from the modules of this repository
// as a proxy serves them.
func TestInstallsOutsideTheTree(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds a command in an empty module cache")
	}
	root, err := arch.Root()
	if err != nil {
		t.Fatal(err)
	}
	const cmd = "temporal/cmd/agentscript-temporal"
	if _, err := os.Stat(filepath.Join(root, cmd)); err != nil {
		t.Skip("not built: " + cmd + " is missing")
	}
	if _, err := command(root, "git", "rev-parse", "HEAD"); err != nil {
		t.Skip("no clone: ", err)
	}
	out := t.TempDir()
	if err := write(root, out, "v0.0.0-test", modules); err != nil {
		t.Fatal(err)
	}
	env, err := command(root, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		t.Fatal(err)
	}
	cache, proxy, _ := strings.Cut(env, "\n") // what exists need not be fetched again
	said := install(t, out, address(filepath.Join(cache, "cache", "download"))+","+proxy, "github.com/agentscript/agentscript/"+cmd+"@v0.0.0-test", "--help")
	if !strings.Contains(said, "worker") {
		t.Errorf("the command says\n%s", said)
	}
}

// address returns a directory as the address of a proxy.
func address(dir string) string {
	return "file://" + "/" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
}

// install installs a command from what was written in a directory, and runs it. It uses another module cache, since the
// same version has different files the next time.
func install(t *testing.T, from, others, pkg string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	in := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY="+address(from)+","+others, "GOSUMDB=off", "GOFLAGS=-mod=mod -modcacherw -trimpath",
			"GOMODCACHE="+filepath.Join(dir, "modules"), "GOBIN="+filepath.Join(dir, "bin"), "GOWORK=off", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	in("go", "install", pkg)
	made, err := os.ReadDir(filepath.Join(dir, "bin"))
	if err != nil || len(made) != 1 {
		t.Fatalf("%v, %v", made, err)
	}
	return in(filepath.Join(dir, "bin", made[0].Name()), args...)
}
