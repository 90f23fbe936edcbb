package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrograms checks that each whole program of the page on embedding compiles next to the scripts above it, and
// prints what is below it.
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

// output runs a program next to its scripts, as a package of this module. An overlay puts it there, since other tests
// read the tree at the same time.
func output(t *testing.T, program string, scripts map[string]string) string {
	t.Helper()
	files := map[string]string{"main.go": program}
	for name, text := range scripts {
		files[filepath.Join("flows", name)] = text
	}
	dir, place := t.TempDir(), filepath.Join(root(t), "internal", "docs", "program")
	replace := map[string]string{}
	for name, text := range files {
		file := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(place, name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-trimpath", "-overlay", file, "./program")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}
