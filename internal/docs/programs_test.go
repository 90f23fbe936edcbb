package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrograms: each whole program of the page on embedding compiles beside the scripts that stand above
// it, and writes what stands below it.
func TestPrograms(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "embedding.md"))
	if err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	program, seen := "", 0
	for _, b := range strings.Split(string(page), "\n```")[1:] {
		lang, text, _ := strings.Cut(b, "\n")
		switch name, isFile := strings.CutPrefix(text, "# flows/"); {
		case lang == "python" && isFile:
			name, _, _ = strings.Cut(name, "\n")
			scripts[name] = text
		case lang == "go" && strings.HasPrefix(text, "package main\n"):
			program = text
		case lang == "text" && program != "":
			if got := output(t, program, scripts); strings.TrimSpace(got) != strings.TrimSpace(text) {
				t.Errorf("program %d writes\n%s\nwant\n%s", seen, got, text)
			}
			scripts, program = map[string]string{}, ""
			seen++
		}
	}
	if seen < 2 || program != "" {
		t.Errorf("%d programs with what they write, want 2", seen)
	}
}

// output runs a program beside its scripts, in a package of this module.
func output(t *testing.T, program string, scripts map[string]string) string {
	t.Helper()
	dir, err := os.MkdirTemp(".", "program")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "flows"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, "flows", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "./"+dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}
