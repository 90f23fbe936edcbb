package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/engine/store/storetest"
	"github.com/agentscript/agentscript/internal/hang"
)

// durable opens the stores of sessions that outlive a process, in a directory.
var durable = map[string]func(dir string) (engine.SessionStore, error){
	"sqlite": func(dir string) (engine.SessionStore, error) {
		return sqlite.Open(context.Background(), filepath.Join(dir, "sessions.db"))
	},
}

// everyStore runs a test on an empty store of each kind.
func everyStore(t *testing.T, test func(t *testing.T, s engine.SessionStore)) {
	t.Run("memory", func(t *testing.T) { test(t, &session.Memory{}) })
	for name := range durable {
		t.Run(name, func(t *testing.T) { test(t, opened(t, name, t.TempDir())) })
	}
}

func opened(t *testing.T, name, dir string) engine.SessionStore {
	t.Helper()
	s, err := durable[name](dir)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := s.(io.Closer); ok {
		t.Cleanup(func() { closed(t, c) })
	}
	return s
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func taken(t *testing.T, s engine.SessionStore, id string) engine.OpenSession {
	t.Helper()
	open, err := s.OpenSession(t.Context(), id, "a.star")
	if err != nil {
		t.Fatal(err)
	}
	return open
}

func saved(t *testing.T, open engine.OpenSession, key, op, text string) engine.Entry {
	t.Helper()
	e, err := open.Save(t.Context(), key, op, text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func is(err error, code diag.Code) bool { return errors.Is(err, &engine.Error{Code: code}) }

// Promise 22.9 (memory): sessions in memory and in SQLite behave the same: a session has one run at a time, in any
// process, data that was saved under an idempotency key is not saved again, and an invalid id reaches no file.
func TestPromise_22_9_Stores(t *testing.T) {
	everyStore(t, func(t *testing.T, s engine.SessionStore) {
		open := taken(t, s, "one")
		if e, err := open.Load(t.Context(), "k"); err != nil || e != (engine.Entry{}) {
			t.Errorf("an empty session holds %+v, %v", e, err)
		}
		saved(t, open, "k", "op1", "first")
		saved(t, open, "k", "op2", "sécond\n\x00")
		if e := saved(t, open, "k", "op1", "again"); e != (engine.Entry{Text: "sécond\n\x00", Version: 2}) {
			t.Errorf("what was saved before is saved again: %+v", e)
		}
		saved(t, open, "other", "op3", strings.Repeat("x", 1<<20))
		if _, err := s.OpenSession(t.Context(), "one", "a.star"); !is(err, diag.SessionBusy) {
			t.Errorf("taken twice: %v", err)
		}
		if err := s.DeleteSession(t.Context(), "one"); !is(err, diag.SessionBusy) {
			t.Errorf("removed while it is open: %v", err)
		}
		closed(t, taken(t, s, "two"))
		closed(t, open)
		closed(t, open)
		if _, err := open.Save(t.Context(), "k", "op4", "late"); !is(err, diag.StoreFailed) {
			t.Errorf("saved behind its end: %v", err)
		}
		if _, err := s.OpenSession(t.Context(), "one", "b.star"); !is(err, diag.BadSession) || !strings.Contains(err.Error(), "a.star") {
			t.Errorf("another script: %v", err)
		}
		again := taken(t, s, "one")
		if e, err := again.Load(t.Context(), "k"); err != nil || e.Text != "sécond\n\x00" {
			t.Errorf("%+v, %v", e, err)
		}
		closed(t, again)
		all, err := s.Sessions(t.Context())
		if err != nil || len(all) != 2 || all[0].ID != "one" || all[0].Script != "a.star" || all[0].Entries != 2 || all[0].Bytes != 1<<20+9 || all[1].ID != "two" {
			t.Errorf("%+v, %v", all, err)
		}
		if entries, err := s.ReadSession(t.Context(), "two"); err != nil || len(entries) != 0 {
			t.Errorf("%v, %v", entries, err)
		}
		if entries, err := s.ReadSession(t.Context(), "one"); err != nil || len(entries) != 2 || entries["k"].Version != 2 {
			t.Errorf("%v, %v", entries, err)
		}
		if err := s.DeleteSession(t.Context(), "one"); err != nil {
			t.Error(err)
		}
		for _, err := range []error{s.DeleteSession(t.Context(), "one"), second(s.ReadSession(t.Context(), "one"))} {
			if !is(err, diag.BadSession) {
				t.Errorf("a session that is gone: %v", err)
			}
		}
		for _, id := range []string{"../../etc", "", "a/b", strings.Repeat("x", 65)} {
			if _, err := s.OpenSession(t.Context(), id, "a.star"); !is(err, diag.BadSession) {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// An idempotency key is remembered while its write may still be in flight, but not indefinitely.
func TestStoresForgetOps(t *testing.T) {
	everyStore(t, func(t *testing.T, s engine.SessionStore) {
		open := taken(t, s, "one")
		defer closed(t, open)
		for i := range 300 {
			saved(t, open, "k", fmt.Sprint(i), fmt.Sprint(i))
		}
		if e := saved(t, open, "k", "299", "x"); e.Text != "299" {
			t.Error("the last key is forgotten")
		}
		if e := saved(t, open, "k", "0", "x"); e.Text != "x" {
			t.Error("the first key is still remembered")
		}
	})
}

// If many runs take a session at once, one gets it; sessions do not hinder each other.
func TestOneRunAtATime(t *testing.T) {
	everyStore(t, func(t *testing.T, s engine.SessionStore) {
		const takers = 8
		got := make(chan engine.OpenSession, takers)
		var all sync.WaitGroup
		for i := range takers {
			all.Go(func() {
				open, err := s.OpenSession(t.Context(), "one", "a.star")
				if err == nil {
					got <- open
				} else if !is(err, diag.SessionBusy) {
					t.Error(err)
				}
				own, err := s.OpenSession(t.Context(), fmt.Sprint("own", i), "a.star")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := own.Save(t.Context(), "k", "op", "x"); err != nil {
					t.Error(err)
				}
				closed(t, own)
			})
		}
		all.Wait()
		if len(got) != 1 {
			t.Errorf("%d have it", len(got))
		}
		for range len(got) {
			closed(t, <-got)
		}
	})
}

// childEnv makes this binary a process that saves in a session until it is killed.
const childEnv = "AGENTSCRIPT_TEST_SAVES"

func TestMain(m *testing.M) {
	if how := os.Getenv(childEnv); how != "" {
		if err := saves(how, os.Args[1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// saves writes increasing numbers to a large entry and reports each number once it is saved.
func saves(how, dir string) error {
	s, err := durable[how](dir)
	if err != nil {
		return err
	}
	open, err := s.OpenSession(context.Background(), "one", "a.star")
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		text := strings.Repeat(fmt.Sprintln(i), 2000)
		if _, err := open.Save(context.Background(), "k", fmt.Sprint(os.Getpid(), i), text); err != nil {
			return err
		}
		fmt.Println(i)
		time.Sleep(time.Millisecond) // lets other writers in: a lock is not handed on
	}
}

// Promise 22.10 (memory): if a process is killed during its writes, the session is exactly as it was last saved. It is
// then free for other processes, which cannot take it before.
func TestPromise_22_10_Killed(t *testing.T) {
	for name := range durable {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for round := range 4 {
				child := hang.Command(t, os.Args[0], dir)
				child.Env = append(os.Environ(), childEnv+"="+name)
				out, err := child.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				child.Stderr = t.Output()
				if err := child.Start(); err != nil {
					t.Fatal(err)
				}
				last := 0
				for last < 5+round*7 {
					if _, err := fmt.Fscan(out, &last); err != nil {
						t.Fatal(err)
					}
				}
				other := opened(t, name, dir)
				if _, err := other.OpenSession(t.Context(), "one", "a.star"); !is(err, diag.SessionBusy) {
					t.Errorf("taken while another process has it: %v", err)
				}
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				for { // what it reported in the meantime
					if _, err := fmt.Fscan(out, &last); err != nil {
						break
					}
				}
				_ = child.Wait() // it was killed
				open := taken(t, other, "one")
				e, err := open.Load(t.Context(), "k")
				n := 0
				if _, scan := fmt.Sscan(e.Text, &n); err != nil || scan != nil {
					t.Fatal(err, scan)
				}
				if n < last || n > last+1 || e.Text != strings.Repeat(fmt.Sprintln(n), 2000) {
					t.Errorf("round %d: %d was saved, and %d bytes of %d are there", round, last, len(e.Text), n)
				}
				closed(t, open)
			}
		})
	}
}

// Promise 22.11 (memory): a damaged store, a store of another version and a file of another kind are each a typed
// error, and remain unchanged.
func TestPromise_22_11_Damaged(t *testing.T) {
	for name := range durable {
		for _, what := range []string{"no store at all, but a longer text\n", "", "SQLite format 3\x00 and then nothing of the sort"} {
			dir := t.TempDir()
			file := filepath.Join(dir, "sessions.db")
			if err := os.WriteFile(file, []byte(what), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := durable[name](dir)
			if err == nil {
				_, err = s.OpenSession(t.Context(), "one", "a.star")
			}
			if what == "" { // an empty file is an empty database
				if err != nil {
					t.Error(err)
				}
				continue
			}
			if !errors.Is(err, &engine.Error{Kind: engine.KindStore, Code: diag.StoreFailed}) {
				t.Errorf("%s of %q: %v", name, what, err)
			}
			if left, err := os.ReadFile(file); err != nil || string(left) != what {
				t.Errorf("%s of %q: it is %q now, %v", name, what, left, err)
			}
		}
	}
}

// Only their owner can read what sessions hold.
func TestModesOfFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes: what a directory of the user holds is the user's")
	}
	for name := range durable {
		dir := t.TempDir()
		open := taken(t, opened(t, name, dir), "one")
		saved(t, open, "k", "op", "x")
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || path == dir {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %s has mode %o", name, path, info.Mode().Perm())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		closed(t, open)
	}
}

// A directory that cannot be written, or a path that is no directory, is a typed error.
func TestStoresWithoutAPlace(t *testing.T) {
	for name := range durable {
		dir := t.TempDir()
		file := filepath.Join(dir, "file")
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := durable[name](file); !errors.Is(err, &engine.Error{Kind: engine.KindStore, Code: diag.StoreFailed}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every store keeps the contract that stores of other modules must keep.
func TestStoresKeepTheContract(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		storetest.Sessions(t, func(*testing.T) engine.SessionStore { return &session.Memory{} })
		storetest.Journal(t, func(*testing.T) engine.Journal { return &store.Memory{} })
	})
	for name := range durable {
		t.Run(name, func(t *testing.T) {
			storetest.Sessions(t, func(t *testing.T) engine.SessionStore { return opened(t, name, t.TempDir()) })
		})
	}
}
