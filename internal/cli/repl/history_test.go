package repl

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// historian returns a function that opens histories of one project.
func historian(t *testing.T) func() *history {
	home := t.TempDir()
	c := &term.Console{Process: &term.Process{LookupEnv: func(name string) (string, bool) { return home, name == "XDG_STATE_HOME" }}}
	c.Hide("", func(text string) string { return strings.ReplaceAll(text, "a key", "[redacted]") })
	return func() *history {
		t.Helper()
		h, err := openHistory(c, "/a/project")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
}

func write(t *testing.T, h *history, entry string) {
	t.Helper()
	if _, err := h.Write(entry); err != nil {
		t.Fatal(err)
	}
}

// TestUnfinishedHistory checks that entries are kept after a session was killed while it wrote, and that a history that
// others could read becomes private.
func TestUnfinishedHistory(t *testing.T) {
	open := historian(t)
	h := open()
	write(t, h, "one")
	for _, damage := range []string{"\"hal", "\n", "\x00\xff\n", "{}\n", "\"\"\n"} {
		f, err := os.OpenFile(h.path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(damage)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		write(t, open(), damage)
	}
	if err := os.Chmod(h.path, 0o644); err != nil {
		t.Fatal(err)
	}
	last := open()
	if info, err := os.Stat(h.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if want := []string{"one", "\"hal", "\n", "\x00\uFFFD\n", "{}\n", "\"\"\n"}; !slices.Equal(last.entries, want) {
		t.Errorf("it holds %q, not %q", last.entries, want)
	}
}

// TestSharedHistory writes from several sessions concurrently: each entry is there, once and whole.
func TestSharedHistory(t *testing.T) {
	open := historian(t)
	const sessions, entries = 4, 100
	var all sync.WaitGroup
	for i := range sessions {
		h := open()
		all.Go(func() {
			for j := range entries {
				if _, err := h.Write(fmt.Sprintf("a key of session %d, entry %d %s", i, j, strings.Repeat("long ", 500))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := map[string]int{}
	for _, entry := range open().entries {
		if !strings.HasPrefix(entry, "[redacted] of session") || !strings.HasSuffix(entry, "long ") {
			t.Fatalf("%q", entry)
		}
		seen[entry]++
	}
	if len(seen) != sessions*entries {
		t.Errorf("%d entries", len(seen))
	}
}

// TestLongHistory begins with the recent entries of a long file, and keeps no entry that is too long.
func TestLongHistory(t *testing.T) {
	open := historian(t)
	h := open()
	write(t, h, strings.Repeat("x", longEntry+1))
	if h.Len() != 0 {
		t.Error("a long entry is kept")
	}
	line := fmt.Sprintf("%q\n", strings.Repeat("y", 999))
	if err := os.WriteFile(h.path, []byte(strings.Repeat(line, 2*recent/len(line))+"\"last\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h = open()
	if n := h.Len(); n > recent/len(line)+1 || n < recent/len(line)-1 || h.entries[n-1] != "last" {
		t.Errorf("%d entries", n)
	}
	if err := os.Remove(h.path); err != nil {
		t.Fatal(err)
	}
	write(t, h, "still there")
	if entry, err := h.GetLine(h.Len() - 1); err != nil || entry != "still there" {
		t.Errorf("%q, %v", entry, err)
	}
}
