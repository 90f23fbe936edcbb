package db

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

// unclear counts the b-tree pages, as listed by SQLite, and those of them that have something in their free space.
func unclear(t *testing.T, f *File) (found, trees int) {
	t.Helper()
	err := Each(func() (*sql.Rows, error) {
		return f.Readers().Query("SELECT pageno, data FROM dbstat JOIN sqlite_dbpage ON pgno = pageno WHERE pagetype IN ('leaf', 'internal')")
	}, func(rows *sql.Rows) error {
		var n int64
		var page []byte
		err := rows.Scan(&n, &page)
		if trees++; uncleared(page, n) != nil {
			found++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, trees
}

// contents returns a digest of what the entries hold.
func contents(t *testing.T, f *File) string {
	t.Helper()
	var sum string
	if err := f.Readers().QueryRow("SELECT count(*) || ' ' || sum(length(text)) || ' ' || sum(unicode(text)) || ' ' || sum(version) FROM entries").Scan(&sum); err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestScrub: after it no b-tree page has anything in its free space, whatever happened to the file before, and the
// contents are unchanged.
func TestScrub(t *testing.T) {
	rows := 40_000 // so that the file has several pages of its pointer map
	if testing.Short() {
		rows = 12_000
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	f := opened(t, path)
	random := rand.New(rand.NewPCG(3, 4))
	for begun := 0; begun < rows; begun += 1000 {
		err := f.Do(func(tx *Tx) error {
			for range 1000 {
				text := bytes.Repeat([]byte{byte('a' + random.IntN(26))}, 1+random.IntN(3000)*random.IntN(2)+random.IntN(100))
				if _, err := tx.Exec("INSERT INTO entries (session, key, version, text) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET text = excluded.text",
					fmt.Sprint(random.IntN(30)), fmt.Sprint(random.IntN(rows/30)), random.IntN(9), string(text)); err != nil {
					return err
				}
			}
			_, err := tx.Exec("DELETE FROM entries WHERE session = ?", fmt.Sprint(random.IntN(30)))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	held := contents(t, f)
	before, trees := unclear(t, f)
	if before == 0 {
		t.Fatal("nothing is there to be cleared: the test says nothing")
	}
	begun := time.Now()
	if err := f.Scrub(context.Background()); err != nil {
		t.Fatal(err)
	}
	size, _, err := f.Sizes(context.Background())
	t.Logf("%d of %d pages of trees in %d MB were cleared in %s, %v", before, trees, size>>20, time.Since(begun), err)
	if after, _ := unclear(t, f); after != 0 {
		t.Errorf("%d pages still have something in their free space", after)
	}
	var says string
	if err := f.Readers().QueryRow("PRAGMA integrity_check").Scan(&says); err != nil || says != "ok" {
		t.Errorf("%s, %v", says, err)
	}
	if got := contents(t, f); got != held {
		t.Errorf("it held %s, and holds %s", held, got)
	}
}
