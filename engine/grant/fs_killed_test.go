//go:build unix

package grant_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
)

// writingEnv makes this test a host that is killed while it writes into a directory.
const writingEnv = "AGENTSCRIPT_TEST_WRITING"

// Promise 26.121 (sound): the next start removes the temporary files of a killed run but not those that another process is
// writing, and no listing shows either.
func TestPromise_26_121_FilesOfKilledRuns(t *testing.T) {
	if dir := os.Getenv(writingEnv); dir != "" {
		g := granted(t, grant.FSAs("work", dir, grant.ReadWrite))
		text := strings.Repeat("x", 8<<20)
		for {
			if out := touch(t, t.Context(), g, "fs.write", `{"path": "work/`+os.Getenv("IN")+`file", "text": "`+text+`"}`); out.Err != nil {
				t.Fatal(out.Err)
			}
		}
	}
	left := func(dir string) []string {
		t.Helper()
		var found []string
		for _, pattern := range []string{".agentscript-*", "deep/down/.agentscript-*"} {
			some, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, some...)
		}
		return found
	}
	for _, in := range []string{"", "deep/down/"} {
		dir := t.TempDir()
		writing := func() *exec.Cmd {
			host := hang.Command(t, os.Args[0], "-test.run=^TestPromise_26_121_FilesOfKilledRuns$")
			host.Env = append(os.Environ(), writingEnv+"="+dir, "IN="+in)
			host.Stderr = t.Output()
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			hang.Until(t, "it writes", func() bool { return len(left(dir)) > 0 })
			return host
		}
		kill := func(host *exec.Cmd) {
			if err := host.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := host.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatal("before it was killed it ended:", err)
			}
		}
		for try := 0; len(left(dir)) == 0; try++ { // it may have been killed between two files
			if try == 100 {
				t.Fatal("no process was killed while it wrote")
			}
			kill(writing())
		}
		before := left(dir)
		g, err := grant.New(grant.FSAs("work", dir, grant.ReadWrite))
		if err != nil {
			t.Fatal(err)
		}
		if after := left(dir); len(after) > 0 {
			t.Errorf("of %q there are %q after the next start", before, after)
		}
		written := func() bool {
			_, err := os.Stat(filepath.Join(dir, in, "file"))
			return err == nil
		}
		// Files of another process that is still writing are left alone: it can finish them.
		other := writing()
		for i := 0; i < 50 || !written(); i++ {
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			if g, err = grant.New(grant.FSAs("work", dir, grant.ReadWrite)); err != nil {
				t.Fatal(err)
			}
			if out := touch(t, t.Context(), g, "fs.list", `{"path": "work/`+in+`"}`); out.Err != nil || strings.Contains(generable.JSON(out.Value, nil), ".agentscript-") {
				t.Errorf("listed: %s, %v", generable.JSON(out.Value, nil), out.Err)
			}
		}
		kill(other)
		if out := touch(t, t.Context(), g, "fs.stat", `{"path": "work/`+in+`file"}`); out.Err != nil || !strings.Contains(generable.JSON(out.Value, nil), `"size":8388608`) {
			t.Errorf("the file that was written: %s, %v", generable.JSON(out.Value, nil), out.Err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
