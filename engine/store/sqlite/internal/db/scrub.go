package db

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
)

// SQLite overwrites what is deleted, but not what it has moved from one page to another: the bytes stay in the free
// space of the page until something is put there. A row that was moved and deleted later is still in that space.

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
	if kept == 0 { // the file has no map of its pages: it is written anew, which leaves no free space
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

// remade writes a file anew, with a map of its pages.
const remade = "PRAGMA auto_vacuum = INCREMENTAL; VACUUM"

// scrub overwrites the free space of pages that may have some, if they are pages of trees, as the file's map of its
// pages says: nothing else knows.
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
		if errors.Is(err, sql.ErrNoRows) { // the file is smaller by now
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

// Entries of the map of pages: a byte that says what a page is, and the number of its parent.
const (
	mapEntry  = 5
	mapRoot   = 1
	mapBranch = 5
)

// isTree reports whether a page belongs to a tree, as tables and indexes are. Page 2 and those at a fixed distance from it
// are the map; each says what the pages behind it are.
func isTree(tx *Tx, size, n int64) (bool, error) {
	if n == 1 {
		return true, nil
	}
	unused := int64(0x40000000)/size + 1 // of locks on some systems
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

// uncleared are the parts of a page of a tree that hold nothing and are not zero. It is nil for a page that does not look
// like one.
func uncleared(page []byte, n int64) (ranges [][]byte) {
	head := 0
	if n == 1 {
		head = 100 // behind the header of the file
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
