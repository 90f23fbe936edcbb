//go:build unix

package testrun_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentscript/agentscript/internal/testrun"
)

// A pipe without a writer never ends. It is not accepted as a test file, a snapshot or a record.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	script := "def test_a(t):\n    t.replay(\"r.jsonl\")\n"
	for _, name := range []string{"a_test.star", "b_test.star"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a_test.snap", "r.jsonl", "p_test.star"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	found, err := testrun.Find([]string{dir})
	if err != nil || len(found) != 2 {
		t.Errorf("%v, %v", found, err)
	}
	f := testrun.Load(t.Context(), os.DirFS(dir), "a_test.star", testrun.Options{Dir: dir})
	if !f.Broken || !strings.Contains(f.Found.Error(), "a_test.snap cannot be read: it is not a regular file") {
		t.Errorf("%v", f.Found)
	}
	f = testrun.Load(t.Context(), os.DirFS(dir), "b_test.star", testrun.Options{Dir: dir})
	if r := f.Run(t.Context(), f.Tests[0], nil); r.Err == nil || !strings.Contains(r.Err.Error(), `"r.jsonl" cannot be read: it is not a regular file`) {
		t.Errorf("%v", r.Err)
	}
}
