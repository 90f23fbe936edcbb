package cassette_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/llm/scripted"
)

// If something other than a regular file is where the cache keeps an answer, that is an error, and reading does not
// block.
func TestCacheReadsFilesAlone(t *testing.T) {
	text := "ok"
	dir := filepath.Join(t.TempDir(), "cache")
	cached := func(dir string) *cassette.Cache {
		c, err := cassette.NewCache(dir, scripted.New([]scripted.Row{{Text: &text}}), nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	need(t, ask(cached(dir), "m/m", prompt("x")))
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v: the answers are the user's alone", info.Mode(), err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(kept[0], 0o755); err != nil {
		t.Fatal(err)
	}
	if err := needErr(t, ask(cached(dir), "m/m", prompt("x"))); !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("%v", err)
	}
}
