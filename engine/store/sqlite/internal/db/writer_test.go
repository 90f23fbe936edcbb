package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

func opened(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(context.Background(), path, Settings{Busy: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// add returns a write that can be told from others.
func add(id string) func(*Tx) error {
	return func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO sessions (id, script, epoch, updated) VALUES (?, '', ?, 0)", id, tx.N)
		return err
	}
}

// together hands over writes while the writer is blocked, so that they form one group, and returns their errors.
func together(f *File, writes ...func(*Tx) error) []error {
	begun, hold := make(chan bool), make(chan bool)
	f.Hand(func(*Tx) error { close(begun); <-hold; return nil }, func(error) {}, false)
	<-begun
	errs := make([]error, len(writes))
	var all sync.WaitGroup
	for i, w := range writes {
		all.Add(1)
		f.Hand(w, func(err error) { errs[i] = err; all.Done() }, i%2 == 0)
	}
	close(hold)
	all.Wait()
	return errs
}

// ids returns what was written, in order, and how many transactions that took.
func ids(t *testing.T, f *File) (all []string, transactions int) {
	t.Helper()
	seen := map[int64]bool{}
	err := Each(func() (*sql.Rows, error) { return f.Readers().Query("SELECT id, epoch FROM sessions ORDER BY rowid") }, func(rows *sql.Rows) error {
		var id string
		var n int64
		err := rows.Scan(&id, &n)
		all, seen[n] = append(all, id), true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, len(seen)
}

// TestOneFailsAlone: a fault of one write in a group makes only that write fail.
func TestOneFailsAlone(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		bad          func(*Tx) error
		says         string
		transactions int
	}{
		"refused": {func(*Tx) error { return Refuse(refused) }, "refused", 1},
		"failed":  {func(tx *Tx) error { _, err := tx.Exec("INSERT INTO sessions (id) VALUES (NULL)"); return err }, "NOT NULL", 4},
		"after it wrote": {func(tx *Tx) error {
			return errors.Join(add("half")(tx), errors.New("half done"))
		}, "half done", 4},
		"panic": {func(*Tx) error { panic("oh no") }, "panic: oh no", 4},
		"before the commit": {func(tx *Tx) error {
			tx.Before(func() error { return errors.New("not after all") })
			return add("half")(tx)
		}, "not after all", 4},
	} {
		t.Run(name, func(t *testing.T) {
			f := opened(t, filepath.Join(t.TempDir(), "runs.db"))
			errs := together(f, add("a"), add("b"), c.bad, add("c"), add("d"))
			for i, err := range errs {
				if i == 2 && (err == nil || !strings.Contains(err.Error(), c.says)) || i != 2 && err != nil {
					t.Errorf("write %d: %v", i, err)
				}
			}
			if got, n := ids(t, f); fmt.Sprint(got) != "[a b c d]" || n != c.transactions {
				t.Errorf("written in %d transactions: %q", n, got)
			}
		})
	}
}

// TestOrder: writes are committed and answered in the order in which they were handed over, whether lazy or not.
func TestOrder(t *testing.T) {
	f := opened(t, filepath.Join(t.TempDir(), "runs.db"))
	const n = 3 * backlog
	var answered []int
	for i := range n {
		f.Hand(add(fmt.Sprint(i)), func(error) { answered = append(answered, i) }, i%7 != 0)
	}
	f.Hand(add("last"), func(error) {}, true)
	if err := f.Do(func(*Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	got, transactions := ids(t, f)
	if len(got) != n+1 || !slices.IsSorted(answered) || len(answered) != n {
		t.Fatalf("%d were written, %d answered", len(got), len(answered))
	}
	for i, id := range got[:n] {
		if id != fmt.Sprint(i) {
			t.Fatalf("%s at %d", id, i)
		}
	}
	if transactions > n/2 {
		t.Errorf("%d transactions for %d writes", transactions, n)
	}
}

// TestLazyAlone: a write that waits for others is written without them, at the latest when the file is closed.
func TestLazyAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	f := opened(t, path)
	done := make(chan error, 1)
	f.Hand(add("a"), func(err error) { done <- err }, true)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	f.Hand(add("b"), func(err error) { done <- err }, true)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, _ := ids(t, opened(t, path)); fmt.Sprint(got) != "[a b]" {
		t.Errorf("%q", got)
	}
	err := f.Do(add("c"))
	if !errors.Is(err, &engine.Error{Code: diag.StoreFailed}) {
		t.Errorf("written to a closed file: %v", err)
	}
}

// TestMadeAtOnce: if many open one new file at the same time, all find the same tables.
func TestMadeAtOnce(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		path := filepath.Join(t.TempDir(), "deep", "runs.db")
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				f, err := Open(context.Background(), path, Settings{Busy: 10 * time.Second})
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(f.Do(add(fmt.Sprint(i))), f.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got, _ := ids(t, opened(t, path)); len(got) != 8 {
			t.Errorf("%q", got)
		}
	}
}
