package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each kind has a template and each template a kind.
func TestKinds(t *testing.T) {
	dirs, err := templates.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) != len(kinds)+1 {
		t.Errorf("%d directories for %d kinds", len(dirs), len(kinds))
	}
	for _, kind := range kindNames() {
		t.Chdir(t.TempDir())
		if err := os.Mkdir("x", 0o755); err != nil {
			t.Fatal(err)
		}
		made, next, err := write("x", kind)
		if err != nil || len(made) < 3 || next == "" {
			t.Errorf("%s: %v %q %v", kind, made, next, err)
		}
	}
}

// The Go program of a host builds, is formatted, and runs offline.
func TestHost(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("greeter", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := write("greeter", "host"); err != nil {
		t.Fatal(err)
	}
	t.Chdir("greeter")
	own, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, required, _ := strings.Cut(string(module), "require (")
	text := string(own) + "\nrequire github.com/agentscript/agentscript v0.0.0\n\nreplace github.com/agentscript/agentscript => " + root + "\n\nrequire (" + required
	for name, data := range map[string][]byte{"go.mod": []byte(text), "go.sum": sums} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ command, want string }{
		{"gofmt -l main.go", ""},
		{"go vet -mod=mod .", ""},
		{"go run -mod=mod . -offline Ada", "Welcome, Ada!\n"},
	} {
		words := strings.Fields(row.command)
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "CGO_ENABLED=0", "GOWORK=off")
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || string(out) != row.want {
			t.Errorf("%s: %v\n%s%s", row.command, err, out, errs.String())
		}
	}
}
