package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// fmt rejects what is nested too deeply with the message of check.
func TestFmtRefusesWhatCheckRefuses(t *testing.T) {
	file := written(t, "deep.star", "x = "+strings.Repeat("1+", 30_000)+"1\n")
	code, _, want := inProcess(t, nil, "check", file)
	if code != term.ExitCheck || !strings.Contains(want, "error[AS101]") {
		t.Fatalf("check: exit code %d, stderr:\n%.300s", code, want)
	}
	code, stdout, got := inProcess(t, nil, "fmt", file)
	if code != term.ExitCheck || stdout != "" || got != want {
		t.Errorf("fmt: exit code %d, %d bytes on stdout, stderr:\n%.300s\nwant\n%.300s", code, len(stdout), got, want)
	}
}

// Verbs that read scripts themselves do not read what loading would not read completely.
func TestSourcesAreBounded(t *testing.T) {
	text := "#" + strings.Repeat("a", 1<<20)
	script := written(t, "large.star", text)
	parsed := agentscript.NewParsed()
	for _, args := range [][]string{{"fmt", script}, {"fmt", "-"}, {"check", script}, {"run", script, "x"}} {
		code, stdout, stderr := inProcess(t, func(s *term.Process) { s.Parsed, s.Stdin = parsed, strings.NewReader(text) }, args...)
		if code != term.ExitUsage && code != term.ExitCheck || stdout != "" || !strings.Contains(stderr, "has more than 1048576 bytes") {
			t.Errorf("%s: exit code %d, %d bytes on stdout, stderr:\n%.300s", args, code, len(stdout), stderr)
		}
	}
	if n := parsed.Count(); n != 0 {
		t.Errorf("it was parsed %d times", n)
	}
}

// smallDisk contains a file and has a little free space.
type smallDisk struct {
	text []byte
	room int
}

func (d *smallDisk) WriteAt(p []byte, off int64) (int, error) {
	n := len(p)
	if grows := int(off) + n - len(d.text); grows > d.room {
		n -= grows - d.room
	}
	if end := int(off) + n; end > len(d.text) {
		d.room -= end - len(d.text)
		d.text = append(d.text, make([]byte, end-len(d.text))...)
	}
	copy(d.text[off:], p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *smallDisk) Truncate(size int64) error {
	d.text = d.text[:size]
	return nil
}

func TestRewrite(t *testing.T) {
	for _, tt := range []struct {
		name, old, new string
		room           int
		full           bool
	}{
		{"longer", "x=1\n", "x = 1\n", 10, false},
		{"shorter", "x  =  1\n", "x = 1\n", 0, false},
		{"empty", "x", "", 0, false},
		{"no room", "x=1\n", "x = 1\n", 0, true},
		{"hardly any room", "x=1\n", "x = 1\n", 1, true},
	} {
		d := &smallDisk{text: []byte(tt.old), room: tt.room}
		err := rewrite(d, []byte(tt.old), []byte(tt.new))
		want := tt.new
		if tt.full {
			want = tt.old
		}
		if errors.Is(err, syscall.ENOSPC) != tt.full || string(d.text) != want {
			t.Errorf("%s: %q, %v", tt.name, d.text, err)
		}
	}
}

// A file that is formatted in place keeps its mode and its links.
func TestFormatInPlace(t *testing.T) {
	file := written(t, "messy.star", "x=1\n")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(file), "other.star")
	if err := os.Link(file, other); err != nil {
		t.Skip("no links here:", err)
	}
	if code, _, stderr := inProcess(t, nil, "fmt", "-w", file); code != term.ExitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	text, err := os.ReadFile(other)
	if err != nil || !strings.HasPrefix(string(text), "x = 1") {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A shown difference is also written if requested.
func TestFmtShowsAndWrites(t *testing.T) {
	file := written(t, "ugly.star", "x=1\n")
	code, stdout, stderr := inProcess(t, nil, "fmt", "-d", "-w", file)
	if code != term.ExitOK || !strings.Contains(stdout, "+x = 1") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "x = 1\n" {
		t.Errorf("%q, %v", text, err)
	}
}
