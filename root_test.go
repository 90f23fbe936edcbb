package agentscript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
)

// rootFiles holds a flow that loads from above its directory, and one that reaches further.
var rootFiles = map[string]string{
	"flows/sub/main.star": "load(\"../shared.star\", \"shared\")\nmain = agent(run = lambda s: s + shared)\n",
	"flows/sub/far.star":  "far = file(\"../../secret.txt\")\n",
	"flows/shared.star":   "shared = \"!\"\n",
	"secret.txt":          "hush",
}

func TestRoot(t *testing.T) {
	mem, disk := fstest.MapFS{}, t.TempDir()
	for name, text := range rootFiles {
		mem[name] = &fstest.MapFile{Data: []byte(text)}
		at := filepath.Join(disk, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ root, entry, wrong string }{
		{"", "flows/sub/main.star", `"../shared.star" leads out of the script's directory`},
		{"flows", "flows/sub/main.star", ""},
		{"flows/", "flows/sub/main.star", ""},
		{".", "flows/sub/main.star", ""},
		{"flows/sub", "flows/sub/main.star", `"../shared.star" leads out of the root directory`},
		{"flows", "flows/sub/far.star", `"../../secret.txt" leads out of the root directory`},
		{".", "flows/sub/far.star", ""},
		{"flow", "flows/sub/main.star", "does not lie below the root directory"},
		{"flows/nosuch", "flows/sub/main.star", "does not lie below the root directory"},
	} {
		in, on := agentscript.New(agentscript.WithRoot(tt.root)), agentscript.New()
		if tt.root != "" {
			on = agentscript.New(agentscript.WithRoot(filepath.Join(disk, tt.root)))
		}
		_, memErr := in.Load(t.Context(), mem, tt.entry)
		_, diskErr := on.LoadFile(t.Context(), filepath.Join(disk, tt.entry))
		found, _ := in.Check(t.Context(), mem, tt.entry)
		foundOn, _ := on.CheckFile(t.Context(), filepath.Join(disk, tt.entry))
		for how, err := range map[string]error{"Load": memErr, "LoadFile": diskErr, "Check": found.Err(), "CheckFile": foundOn.Err()} {
			switch {
			case tt.wrong == "" && err != nil:
				t.Errorf("%s of %s in %q: %v", how, tt.entry, tt.root, err)
			case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong) || !strings.Contains(err.Error(), "AS601")):
				t.Errorf("%s of %s in %q: %v, want %s", how, tt.entry, tt.root, err, tt.wrong)
			}
		}
	}
}
