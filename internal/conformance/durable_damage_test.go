package conformance

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
)

// keptRuns creates a store with n runs, of a few steps and some large values each.
func keptRuns(t *testing.T, path string, n int) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	_, mod := durableScript(t, s, `
say = agent("say", prompt = "Say it.")

def main(x = str):
    return [say(x + str(i)) for i in range(12)] + [say("large " * 20000)]
`)
	for i := range n {
		if _, err := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID(fmt.Sprint("kept", i))).Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// statement executes SQL on a file, as another program would.
func statement(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err == nil {
		_, err = db.Exec(text)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Promise 30.8 (durable): a damaged file, a file of another kind and a file of a newer version are refused with a clear
// error before the first effect.
func TestPromise_30_8_DamagedAndNewer(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "runs.db")
	keptRuns(t, whole, 6)
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(how func(data []byte) []byte) func(path string) {
		return func(path string) {
			if err := os.WriteFile(path, how(bytes.Clone(good)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		make func(path string)
		says string
	}{
		"a text":           {changed(func([]byte) []byte { return []byte(strings.Repeat("no store at all\n", 900)) }), "damaged or no database"},
		"another database": {func(path string) { statement(t, path, "CREATE TABLE mine (x); INSERT INTO mine VALUES (1)") }, "of something else"},
		"a newer version": {func(path string) {
			changed(func(data []byte) []byte { return data })(path)
			statement(t, path, "PRAGMA user_version = 4")
		}, "has format 4, and this version of agentscript reads up to 3"},
		"a damaged header": {changed(func(data []byte) []byte { copy(data[40:], "damaged!"); copy(data, "damaged!"); return data }), "damaged or no database"},
		"damaged tables":   {changed(func(data []byte) []byte { clear(data[100:8192]); return data }), "damaged"},
		"damaged pages": {changed(func(data []byte) []byte {
			for i := 8192; i < len(data); i++ {
				data[i] = byte(i * 7)
			}
			return data
		}), "damaged"},
		"its beginning alone": {changed(func(data []byte) []byte { return data[:8192+77] }), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, pairFlow)
			p := llmtest.New(llmtest.Reply{Text: "x", Repeat: true})
			defer p.Close()
			path := filepath.Join(h.dir, "named.db")
			tt.make(path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"run", "flow.star", "go"}, {"runs", "resume", "kept1"}, {"runs", "fork", "kept1"}, {"runs", "ls"}} {
				out := h.run(p, append(args, "--store", "named.db")...)
				if out.code != 1 || out.stdout != "" || !strings.Contains(out.stderr, "AS755") || !strings.Contains(out.stderr, "named.db") || !strings.Contains(out.stderr, tt.says) || strings.Contains(out.stderr, "goroutine") {
					t.Errorf("%q: exit %d: %q\n%s", args, out.code, out.stdout, out.stderr)
				}
			}
			if n := len(p.Requests()); n != 0 {
				t.Errorf("%d calls were made", n)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
	t.Run("any page", func(t *testing.T) { damagedPages(t, good) })
}

// damagedPages checks that, whichever page is damaged, a new run is rejected before its first effect, or does not
// encounter the damage.
func damagedPages(t *testing.T, good []byte) {
	const page = 8192
	dir, refused := t.TempDir(), 0
	for at := range len(good) / page {
		data := bytes.Clone(good)
		for i := range page {
			data[at*page+i] = byte(i*7 + at)
		}
		path := filepath.Join(dir, fmt.Sprint(at, ".db"))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var calls atomic.Int32
		models := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, s engine.Sink) engine.Outcome {
			calls.Add(1)
			return callsOnce(ctx, e, s)
		})
		s, err := sqlite.Open(t.Context(), path)
		if err == nil {
			_, mod := durableScript(t, s, "say = agent(\"say\", prompt = \"Say it.\")\n\ndef main(x = str):\n    return say(say(x * 60000))\n", agentscript.WithModels(models))
			_, err = mod.Start(t.Context(), agentscript.Input("x")).Wait()
			_ = s.Close() // it may fail, since the file is damaged
		}
		if err == nil {
			continue
		}
		refused++
		if e, ok := errors.AsType[*engine.Error](err); !ok || e.Code != diag.StoreFailed || calls.Load() > 0 || !strings.Contains(e.Help, "restore it from a copy") {
			t.Errorf("page %d of %d is damaged: after %d calls: %v", at+1, len(good)/page, calls.Load(), err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d pages", refused, len(good)/page)
}

// Promise 30.9 (durable): runs rm and runs gc leave no bytes behind, neither in the file nor in its log.
//
// This holds even while another process continues a run of the same store.
func TestPromise_30_9_BytesAreGone(t *testing.T) {
	const canary = "CANARY-4f1c9d"
	secretive := "# " + canary + "\n" + strings.ReplaceAll(pairFlow, "\"A.\"", "\"A. "+canary+"\"")
	h := newHome(t, pairFlow)
	other := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Fault: llmtest.StallHeaders})
	defer other.Close()
	live := h.command(other, "run", "flow.star", "go", "-q")
	if err := live.Start(); err != nil {
		t.Fatal(err)
	}
	hang.Until(t, "the second call", func() bool { return len(other.Requests()) == 2 })
	h.write("secret.star", secretive)
	for _, how := range [][]string{{"runs", "rm", "RUN"}, {"runs", "gc", "--older", "1ms"}} {
		p := llmtest.New(llmtest.Reply{Text: canary + strings.Repeat(" so long "+canary, 9000)}, llmtest.Reply{Text: canary}, llmtest.Reply{Status: 400, Body: `{"error": {"message": "` + canary + `"}}`, Repeat: true})
		if out := h.run(p, "run", "secret.star", canary, "-q"); out.code != 0 {
			t.Fatalf("exit %d: %s", out.code, out.stderr)
		}
		id := h.last()
		if out := h.run(p, "run", "secret.star", "again "+canary, "-q"); out.code != 6 {
			t.Fatalf("exit %d: %s", out.code, out.stderr)
		}
		p.Close()
		if found := filesWith(t, filepath.Dir(h.db()), canary); len(found) == 0 {
			t.Fatal("the canary is nowhere: the test finds nothing")
		}
		args := strings.Fields(strings.ReplaceAll(strings.Join(how, " "), "RUN", id+" "+h.last()))
		if out := h.run(nil, args...); out.code != 0 {
			t.Fatalf("%q: exit %d: %s%s", args, out.code, out.stdout, out.stderr)
		}
		if found := filesWith(t, filepath.Dir(h.db()), canary); len(found) > 0 {
			t.Errorf("%q leaves it in %q", how, found)
		}
		if out := h.run(nil, "runs", "ls"); strings.Count(out.stdout, "\n") != 2 || !strings.Contains(out.stdout, "  running  ") {
			t.Errorf("after %q there are\n%s", how, out.stdout)
		}
	}
	if err := live.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = live.Wait() // it was killed
}

// filesWith returns the files below a directory that contain a text.
func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
