package grant_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
)

// desk makes a directory with files and grants it as "desk"; the directory next to it is not granted.
func desk(t *testing.T, access grant.Access, more ...grant.Option) (string, *grant.Grants) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"desk/a.md": "hello", "desk/docs/b.md": "b", "desk/docs/deep/c.md": "c", "desk/docs/d.txt": "d", "beside.md": "secret"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return dir, granted(t, append(more, grant.WorkDir(dir), grant.FS("desk", access))...)
}

// ask is touch for a path.
func ask(t *testing.T, g engine.Handler, op, path string, more ...string) engine.Outcome {
	t.Helper()
	quoted, err := json.Marshal(path)
	if err != nil {
		t.Fatal(err)
	}
	return touch(t, t.Context(), g, op, `{"path": `+string(quoted)+strings.Join(append([]string{""}, more...), ", ")+`}`)
}

func TestFS(t *testing.T) {
	dir, g := desk(t, grant.ReadWrite)
	gives(t, ask(t, g, "fs.read", "desk/a.md"), `"hello"`)
	gives(t, ask(t, g, "fs.read", dir+"/desk/docs/../a.md"), `"hello"`)
	gives(t, ask(t, g, "fs.read", "desk/a.md", `"limit": 2`), `"he"`)
	gives(t, ask(t, g, "fs.list", "desk"), `["a.md","docs/"]`)
	gives(t, ask(t, g, "fs.list", "desk", `"pattern": "*.md"`), `["a.md"]`)
	gives(t, ask(t, g, "fs.list", "desk", `"pattern": "**/*.md"`), `["a.md","docs/b.md","docs/deep/c.md"]`)
	gives(t, ask(t, g, "fs.list", "desk", `"pattern": "docs/*"`), `["docs/b.md","docs/d.txt","docs/deep/"]`)
	gives(t, ask(t, g, "fs.list", "desk", `"pattern": "**/**"`), `["a.md","docs/","docs/b.md","docs/d.txt","docs/deep/","docs/deep/c.md"]`)
	gives(t, ask(t, g, "fs.exists", "desk/none"), `false`)
	gives(t, ask(t, g, "fs.exists", "desk"), `true`)
	gives(t, ask(t, g, "fs.stat", "desk/a.md"), `{"path":"desk/a.md","kind":"file","size":5,"modified":"2`)
	gives(t, ask(t, g, "fs.stat", "desk/docs"), `"kind":"dir"`)
	gives(t, ask(t, g, "fs.write", "desk/new/deep/e.md", `"text": "new"`), `null`)
	gives(t, ask(t, g, "fs.read", "desk/new/deep/e.md"), `"new"`)
	gives(t, ask(t, g, "fs.write", "desk/a.md", `"text": "other"`), `null`)
	gives(t, ask(t, g, "fs.read", "desk/a.md"), `"other"`)
	if info, err := os.Stat(dir + "/desk/a.md"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("a file that is written anew has the mode %v: %v", info.Mode(), err)
	}
	gives(t, ask(t, g, "fs.remove", "desk/new/deep/e.md"), `null`)
	gives(t, ask(t, g, "fs.remove", "desk/new/deep/e.md"), `null`)
	gives(t, ask(t, g, "fs.remove", "desk/new/deep"), `null`)
	fails(t, ask(t, g, "fs.remove", "desk/docs"), diag.TouchFailed, "desk/docs")
	fails(t, ask(t, g, "fs.remove", "desk"), diag.TouchRefused, "the granted directory itself")
	fails(t, ask(t, g, "fs.read", "desk/none"), diag.TouchFailed, "there is no")
	fails(t, ask(t, g, "fs.read", "desk/docs"), diag.TouchFailed, "is a directory")
	fails(t, ask(t, g, "fs.list", "desk/a.md"), diag.TouchFailed, "is no directory")
	fails(t, ask(t, g, "fs.list", "desk", `"pattern": "[a"`), diag.TouchFailed, "is no pattern")
	fails(t, ask(t, g, "fs.write", "desk/docs", `"text": "x"`), diag.TouchRefused, "no file but a directory")
	gives(t, ask(t, g, "fs.list", "desk", `"pattern": "**/*.tmp"`), `[]`) // no file of a write is left
}

// TestFSReadOnly: a directory granted for reading cannot be written.
func TestFSReadOnly(t *testing.T) {
	_, g := desk(t, grant.ReadOnly)
	gives(t, ask(t, g, "fs.read", "desk/a.md"), `"hello"`)
	fails(t, ask(t, g, "fs.write", "desk/a.md", `"text": "x"`), diag.UngrantedUse, "--allow-fs desk:rw")
	fails(t, ask(t, g, "fs.remove", "desk/a.md"), diag.UngrantedUse, "--allow-fs desk:rw")
}

// TestFSEscape: no path leads out of the granted directory.
func TestFSEscape(t *testing.T) {
	dir, g := desk(t, grant.ReadWrite)
	link := func(to, from string) {
		if err := os.Symlink(to, filepath.Join(dir, "desk", from)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	link("../beside.md", "up")
	link(dir+"/beside.md", "absolute")
	link("..", "parent")
	link("round", "around")
	link("around", "round")
	link("docs/b.md", "inside")
	for _, path := range []string{"desk/../beside.md", "beside.md", dir + "/beside.md", "/etc/passwd", "../../etc/passwd", "workX", "desk/..", "."} {
		fails(t, ask(t, g, "fs.read", path), diag.UngrantedUse, "--allow-fs")
	}
	for _, path := range []string{"desk/up", "desk/absolute", "desk/parent/beside.md"} {
		fails(t, ask(t, g, "fs.read", path), diag.TouchRefused, "symbolic link")
		fails(t, ask(t, g, "fs.stat", path), diag.TouchRefused, "symbolic link")
	}
	fails(t, ask(t, g, "fs.write", "desk/parent/new.md", `"text": "x"`), diag.TouchRefused, "symbolic link")
	fails(t, ask(t, g, "fs.write", "desk/inside", `"text": "x"`), diag.TouchRefused, "a symbolic link")
	fails(t, ask(t, g, "fs.list", "desk/parent"), diag.TouchRefused, "symbolic link")
	fails(t, ask(t, g, "fs.read", "desk/round"), diag.TouchFailed, "desk/round")
	gives(t, ask(t, g, "fs.read", "desk/inside"), `"b"`)
	gives(t, ask(t, g, "fs.remove", "desk/up"), `null`) // the link, not what it leads to
	if _, err := os.Stat(dir + "/beside.md"); err != nil {
		t.Error(err)
	}
	fails(t, ask(t, g, "fs.read", "desk/a\x00b"), diag.TouchRefused, "NUL")
	fails(t, ask(t, g, "fs.read", "desk/"+strings.Repeat("a", 5000)), diag.TouchRefused, "4096")
	fails(t, ask(t, g, "fs.read", "desk/"+strings.Repeat("a/", 200)), diag.TouchRefused, "deep")
}

// TestFSLarge: a file larger than the cap is an error, and a part of it is returned on request, cut between characters.
func TestFSLarge(t *testing.T) {
	dir, g := desk(t, grant.ReadWrite, grant.OutputCap(100))
	for name, text := range map[string]string{"large": strings.Repeat("ä", 51), "fits": strings.Repeat("x", 100), "bytes": "\xff\xfe"} {
		if err := os.WriteFile(dir+"/desk/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gives(t, ask(t, g, "fs.read", "desk/fits"), strings.Repeat("x", 100))
	fails(t, ask(t, g, "fs.read", "desk/large"), diag.TouchTooBig, "more than 100 bytes")
	gives(t, ask(t, g, "fs.read", "desk/large", `"limit": 5`), `"ää"`)
	fails(t, ask(t, g, "fs.read", "desk/bytes"), diag.TouchFailed, "no UTF-8 text")
	fails(t, ask(t, g, "fs.write", "desk/huge", `"text": "`+strings.Repeat("x", 17<<20)+`"`), diag.TouchTooBig, "17825792 bytes")
}

// TestFSDeep: directories deeper than the maximum path length are not listed further.
func TestFSDeep(t *testing.T) {
	dir, g := desk(t, grant.ReadWrite)
	at, err := os.OpenRoot(dir + "/desk")
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("d", 60)
	for range 150 { // 9,000 bytes
		if err := at.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := at.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		at.Close()
		at = next
	}
	at.Close()
	fails(t, ask(t, g, "fs.list", "desk", `"pattern": "**/*.md"`), diag.TouchTooBig, "more than 128 deep")
	gives(t, ask(t, g, "fs.list", "desk", `"pattern": "docs/**/*.md"`), `["docs/b.md","docs/deep/c.md"]`)
}
