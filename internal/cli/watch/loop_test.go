package watch

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Each way to change a file causes one more run, whatever the editor does.
func TestLoop(t *testing.T) {
	put := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ok := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(t *testing.T, dir, file string){
		"a write": func(t *testing.T, _, file string) { put(t, file, "longer text") },
		"a touch": func(t *testing.T, _, file string) {
			later := time.Now().Add(time.Hour)
			ok(t, os.Chtimes(file, later, later))
		},
		"another name": func(t *testing.T, _, file string) {
			put(t, file+".new", "renamed")
			ok(t, os.Rename(file+".new", file))
		},
		"truncated": func(t *testing.T, _, file string) {
			ok(t, os.Truncate(file, 0))
			time.Sleep(300 * time.Millisecond)
			put(t, file, "written behind")
		},
		"in pieces": func(t *testing.T, _, file string) {
			for n := range 20 {
				put(t, file, strings.Repeat("piece ", n+1))
				time.Sleep(20 * time.Millisecond)
			}
		},
		"deleted and made again": func(t *testing.T, _, file string) {
			ok(t, os.Remove(file))
			time.Sleep(400 * time.Millisecond)
			put(t, file, "new")
		},
		"deleted":               func(t *testing.T, _, file string) { ok(t, os.Remove(file)) },
		"a directory that goes": func(t *testing.T, dir, _ string) { ok(t, os.RemoveAll(dir)) },
		"a directory that goes and comes": func(t *testing.T, dir, file string) {
			ok(t, os.Rename(dir, dir+".old"))
			time.Sleep(300 * time.Millisecond)
			ok(t, os.Mkdir(dir, 0o755))
			put(t, file, "another")
		},
		"another file of the same size and time": func(t *testing.T, _, file string) {
			info, err := os.Stat(file)
			ok(t, err)
			put(t, file+".new", "tixt")
			ok(t, os.Chtimes(file+".new", info.ModTime(), info.ModTime()))
			ok(t, os.Rename(file+".new", file))
		},
		"several files": func(t *testing.T, dir, file string) {
			put(t, file, "one")
			time.Sleep(30 * time.Millisecond)
			put(t, filepath.Join(dir, "other"), "two")
		},
		"a link that leads elsewhere": func(t *testing.T, dir, _ string) {
			put(t, filepath.Join(dir, "b"), "the other")
			ok(t, os.Symlink("b", filepath.Join(dir, "link.new")))
			ok(t, os.Rename(filepath.Join(dir, "link.new"), filepath.Join(dir, "link")))
		},
		"a file more in a directory": func(t *testing.T, dir, _ string) { put(t, filepath.Join(dir, "lib", "more"), "x") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "flows")
			file := filepath.Join(dir, "flow.star")
			ok(t, os.MkdirAll(filepath.Join(dir, "lib"), 0o755))
			put(t, file, "text")
			put(t, filepath.Join(dir, "other"), "")
			put(t, filepath.Join(dir, "a"), "a")
			ok(t, os.Symlink("a", filepath.Join(dir, "link")))
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					Loop(ctx, func() []string {
						return []string{file, filepath.Join(dir, "other"), filepath.Join(dir, "link"), filepath.Join(dir, "lib"), filepath.Join(dir, "nothing")}
					}, nil, func(context.Context) { runs.Add(1) })
				}()
				time.Sleep(time.Minute) // in the bubble
				if synctest.Wait(); runs.Load() != 1 {
					t.Errorf("%d runs before anything changed", runs.Load())
				}
				change(t, dir, file)
				time.Sleep(399 * time.Millisecond)
				synctest.Wait()
				if quick := slices.Contains([]string{"a write", "a touch", "another name", "a file more in a directory"}, name); quick && runs.Load() != 2 {
					t.Errorf("%d runs after 400 ms", runs.Load())
				}
				time.Sleep(time.Minute)
				if synctest.Wait(); runs.Load() != 2 {
					t.Errorf("%d runs, want one more", runs.Load())
				}
				stop()
				<-done
			})
		})
	}
}

// Changes during a run are detected afterwards, even in a file that the run is the first to use.
func TestLoopDuringRuns(t *testing.T) {
	dir := t.TempDir()
	file, more := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	synctest.Test(t, func(t *testing.T) {
		put := func(path, text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		}
		put(file, "1")
		var runs atomic.Int32
		known := []string{file}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go Loop(ctx, func() []string { return known }, nil, func(ctx context.Context) {
			if runs.Add(1) == 1 {
				put(file, "changed meanwhile")
				known = []string{file, more}
				put(more, "x")
			}
		})
		time.Sleep(time.Minute)
		if synctest.Wait(); runs.Load() != 2 {
			t.Errorf("%d runs, want one for the change during the first", runs.Load())
		}
		put(more, "changed")
		time.Sleep(time.Minute)
		if synctest.Wait(); runs.Load() != 3 {
			t.Errorf("%d runs, want one for the file that the first run had", runs.Load())
		}
	})
}

// A run can be requested although no file changed.
func TestLoopAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, asked atomic.Int32
		go Loop(t.Context(), func() []string { return nil }, func() bool { return asked.CompareAndSwap(1, 0) }, func(context.Context) { runs.Add(1) })
		for want := int32(1); want < 4; want++ {
			time.Sleep(time.Minute)
			if synctest.Wait(); runs.Load() != want {
				t.Errorf("%d runs, want %d", runs.Load(), want)
			}
			asked.Store(1)
		}
	})
}
