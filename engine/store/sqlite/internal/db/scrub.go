package db

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
)

// SQLite overwrites deleted data, but not data that it has moved from one page to another: those bytes stay in the
// page's free space until something is put there. A row that was moved and later deleted is still in that space.

// scrubbing is how many pages one transaction overwrites.
const scrubbing = 50

// Scrub overwrites the free space inside the pages of the file.
func (f *File) Scrub(ctx context.Context) error {
	var kept, size, pages int64
	for _, q := range []struct {
		query string
		to    *int64
	}{{"PRAGMA auto_vacuum", &kept}, {"PRAGMA page_size", &size}, {"PRAGMA page_count", &pages}} {
		if err := f.readers.QueryRowContext(ctx, q.query).Scan(q.to); err != nil {
			return err
		}
	}
	if kept == 0 { // the file has no pointer map: rewriting it leaves no free space
		return f.Outside(func(tx *Tx) error {
			_, err := tx.conn.ExecContext(context.Background(), remade)
			return err
		})
	}
	look, err := f.readers.PrepareContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?")
	if err != nil {
		return err
	}
	defer look.Close()
	var found []int64
	for n := int64(1); n <= pages; n++ {
		err := Each(func() (*sql.Rows, error) { return look.QueryContext(ctx, n) }, func(rows *sql.Rows) error {
			var page sql.RawBytes
			if err := rows.Scan(&page); err != nil {
				return err
			}
			if uncleared(page, n) != nil {
				found = append(found, n)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(found) == scrubbing || n == pages && found != nil {
			if err := f.Do(func(tx *Tx) error { return scrub(tx, size, found) }); err != nil {
				return err
			}
			found = nil
		}
	}
	return nil
}

// remade rewrites a file, with a pointer map.
const remade = "PRAGMA auto_vacuum = INCREMENTAL; VACUUM"

// scrub overwrites the free space of those pages that belong to b-trees. Only the file's pointer map says which do.
func scrub(tx *Tx, size int64, pages []int64) error {
	for _, n := range pages {
		tree, err := isTree(tx, size, n)
		if err != nil {
			return err
		}
		if !tree {
			continue
		}
		var page []byte
		err = tx.Row("SELECT data FROM sqlite_dbpage WHERE pgno = ?", []any{n}, &page)
		if errors.Is(err, sql.ErrNoRows) { // the file has become smaller
			continue
		}
		if err != nil {
			return err
		}
		ranges := uncleared(page, n)
		if ranges == nil {
			continue
		}
		for _, r := range ranges {
			clear(r)
		}
		if _, err := tx.Exec("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, n); err != nil {
			return err
		}
	}
	return nil
}

// Entries of the pointer map: a byte with the type of a page, and the number of its parent.
const (
	mapEntry  = 5
	mapRoot   = 1
	mapBranch = 5
)

// isTree reports whether a page belongs to a b-tree, as tables and indexes do. Page 2, and further pages at a fixed
// distance, form the pointer map; each describes the pages after it.
func isTree(tx *Tx, size, n int64) (bool, error) {
	if n == 1 {
		return true, nil
	}
	unused := int64(0x40000000)/size + 1 // SQLite never uses the page at 1 GB, where some systems keep locks
	apart := size/mapEntry + 1
	at := (n-2)/apart*apart + 2
	if at == unused {
		at++
	}
	if n <= at || n == unused {
		return false, nil
	}
	var entries []byte
	if err := tx.Row("SELECT data FROM sqlite_dbpage WHERE pgno = ?", []any{at}, &entries); err != nil {
		return false, err
	}
	i := mapEntry * (n - at - 1)
	return i < int64(len(entries)) && (entries[i] == mapRoot || entries[i] == mapBranch), nil
}

// uncleared returns the unused parts of a b-tree page that are not zero. It returns nil for a page that does not look
// like a b-tree page.
func uncleared(page []byte, n int64) (ranges [][]byte) {
	head := 0
	if n == 1 {
		head = 100 // after the file header
	}
	if len(page) < head+12 {
		return nil
	}
	behind := head + 8
	switch page[head] {
	case 2, 5:
		behind += 4
	case 10, 13:
	default:
		return nil
	}
	word := func(at int) int { return int(binary.BigEndian.Uint16(page[at:])) }
	free, cells, content := word(head+1), word(head+3), word(head+5)
	behind += 2 * cells
	if content == 0 {
		content = 1 << 16
	}
	if behind > content || content > len(page) {
		return nil
	}
	add := func(r []byte) {
		if len(bytes.Trim(r, "\x00")) > 0 {
			ranges = append(ranges, r)
		}
	}
	add(page[behind:content])
	for last := 0; free != 0; {
		if free <= last || free < content || free+4 > len(page) || free+word(free+2) > len(page) || word(free+2) < 4 {
			return nil
		}
		add(page[free+4 : free+word(free+2)])
		last, free = free, word(free)
	}
	return ranges
}
