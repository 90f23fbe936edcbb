package starlib_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// closedFS fails the test when anything but a regular file is opened.
type closedFS struct {
	fstest.MapFS
	t *testing.T
}

func (c closedFS) Open(name string) (fs.File, error) {
	if f := c.MapFS[name]; f != nil && !f.Mode.IsRegular() {
		c.t.Errorf("%s is opened", name)
	}
	return c.MapFS.Open(name)
}

// TestFilesThatAreNotRead checks that pipes and devices, whose opening may never end, are not opened, and that no file
// larger than the limit is read completely.
func TestFilesThatAreNotRead(t *testing.T) {
	for _, tt := range []struct{ name, src, code, says, help string }{
		{"a pipe", `x = file("pipe")`, "AS602", "cannot read pipe: it is not a regular file but a device or a pipe", "argument of the run"},
		{"a device", `x = file("null")`, "AS602", "it is not a regular file but a device or a pipe", "name a file"},
		{"a directory", `x = file("docs")`, "AS602", "it is not a regular file but a directory", "name a file"},
		{"a pipe behind a link", `x = file("link")`, "AS602", "cannot read link: it is not a regular file", "name a file"},
		{"a loaded pipe", `load("pipe", "a")`, "AS211", "cannot load pipe: it is not a regular file but a device or a pipe", "name a file"},
		{"a loaded directory", `load("docs", "a")`, "AS211", "it is not a regular file but a directory", "name a file"},
		{"a large file", `x = file("docs/large")`, "AS602", "it has more than 1000 bytes", "a part of it"},
		{"a large script", `load("docs/large", "a")`, "AS211", "it has more than 1000 bytes", "divide it into files"},
		{"the largest file", `x = file("docs/largest")`, "", "", ""},
		{"a large entry", strings.Repeat("#", 1001), "AS602", "it has more than 1000 bytes", "divide it into files"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := closedFS{fstest.MapFS{
				"main.star":    {Data: []byte(tt.src)},
				"pipe":         {Mode: fs.ModeNamedPipe},
				"null":         {Mode: fs.ModeDevice | fs.ModeCharDevice},
				"link":         {Mode: fs.ModeSymlink, Data: []byte("pipe")},
				"docs/large":   {Data: []byte(strings.Repeat("#", 1001))},
				"docs/largest": {Data: []byte(strings.Repeat("#", 1000))},
			}, t}
			m, found := starlib.Load(context.Background(), starlib.Options{FS: fsys, Entry: "main.star", MaxFile: 1000, MaxSource: 1000})
			if codes(found) != tt.code {
				t.Fatalf("got %s, want %s:\n%s", codes(found), tt.code, render(m, found))
			}
			if tt.code != "" && (!strings.Contains(found[0].Message, tt.says) || !strings.Contains(strings.Join(found[0].Help, ""), tt.help)) {
				t.Errorf("got\n%s\nwant %q and %q", render(m, found), tt.says, tt.help)
			}
		})
	}
}

// TestWithoutFiles checks that a script that is given only as text can still name files.
func TestWithoutFiles(t *testing.T) {
	for src, code := range map[string]diag.Code{"x = file(\"a\")\n": diag.FileMissing, "load(\"a.star\", \"a\")\n": diag.LoadFailed} {
		m, found := starlib.Load(context.Background(), starlib.Options{Entry: "main.star", Source: []byte(src)})
		if codes(found) != string(code) || !strings.Contains(found[0].Message, "without any files") {
			t.Errorf("got\n%s", render(m, found))
		}
	}
}
