package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Promise 26.140 (sound): one page of at most 16 KiB describes the whole language, `agentscript doc --llm` prints it, and
// each of its scripts and commands runs.
func TestPromise_26_140_OnePage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "llm.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 16<<10 {
		t.Errorf("docs/llm.md has %d bytes, more than 16 KiB", len(text))
	}
	out, err := shell(t.TempDir(), command(t), "agentscript doc --llm")
	if err != nil || strings.TrimSpace(out) != strings.TrimSpace(string(text)) {
		t.Errorf("agentscript doc --llm does not print the page: %v", err)
	}
	// TestConsoleSessions checks what has a title and runs what is a session: nothing else may be here.
	scripts, sessions := 0, 0
	for _, b := range blocks("docs/llm.md", string(text)) {
		switch {
		case b.lang == "console":
			sessions++
		case b.title != "":
			scripts++
		case b.lang != "sh":
			t.Errorf("docs/llm.md:%d: this block has no title, so nothing checks it", b.line)
		}
	}
	if scripts < 8 || sessions < 2 {
		t.Errorf("%d scripts and %d sessions stand on the page, fewer than it takes to show the language", scripts, sessions)
	}
}

// Promise 26.143 (sound): the first flow of the README runs unchanged, without a key or a file of answers,
// and a page explains how to test flows.
func TestPromise_26_143_FirstHour(t *testing.T) {
	all := pages(t)
	dir, bin := t.TempDir(), command(t)
	for _, b := range all["README.md"] {
		if b.lang != "python" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, b.title), []byte(b.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := shell(dir, bin, "env -i PATH=\"$PATH\" agentscript run -q "+b.title+" 'def f(): pass' --mock"); err != nil || !strings.HasPrefix(out, "Deployed") && !strings.HasPrefix(out, "Rejected") {
			t.Errorf("%s: %s, %v", b.title, out, err)
		}
		break
	}
	if sessions := strings.Count(page(t, filepath.Join("docs", "testing.md")), "```console\n"); sessions < 4 {
		t.Errorf("docs/testing.md shows %d sessions", sessions)
	}
}
