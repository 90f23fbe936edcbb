// Package sqlite stores blobs in one file, for the workers and clients of one machine. It is a separate package, so
// that programs that store blobs elsewhere do not link SQLite.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/agentscript/agentscript/temporal/blob"
)

// Store is a store of blobs in a file. Several processes may open it. The file must be on a local disk: its locks do
// not work over a network.
type Store struct{ db *sql.DB }

var _ blob.Store = (*Store)(nil)

// touchInterval is the time after which a blob that is put again counts as new, for programs that remove old ones.
const touchInterval = time.Minute

const schema = `CREATE TABLE IF NOT EXISTS blobs (key TEXT PRIMARY KEY, data BLOB NOT NULL, used INTEGER NOT NULL) STRICT`

// Open opens a file, and creates it if it does not exist; its directory must exist. In its only table, blobs, the
// column used is the time of the last put in seconds of Unix time, for programs that remove old blobs.
func Open(path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(abs, os.O_RDWR|os.O_CREATE, 0o600) // nobody else may read it
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	to := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	if to.Path[0] != '/' { // C:/dir
		to.Path = "/" + to.Path
	}
	to.RawQuery = "_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate"
	db, err := sql.Open("sqlite", to.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(8)
	if _, err := db.Exec(schema); err != nil {
		return nil, errors.Join(fmt.Errorf("the store of blobs %s: %w", path, err), db.Close())
	}
	return &Store{db}, nil
}

// Put implements [blob.Store].
func (s *Store) Put(ctx context.Context, key string, data []byte) error {
	now := time.Now()
	var size, used int64
	err := s.db.QueryRowContext(ctx, `SELECT length(data), used FROM blobs WHERE key = ?`, key).Scan(&size, &used)
	switch {
	case err == nil && size == int64(len(data)) && now.Sub(time.Unix(used, 0)) < touchInterval:
		return nil
	case err == nil && size == int64(len(data)):
		_, err = s.db.ExecContext(ctx, `UPDATE blobs SET used = ? WHERE key = ?`, now.Unix(), key)
		return err
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	}
	if data == nil {
		data = []byte{}
	}
	_, err = s.db.ExecContext(ctx, `INSERT INTO blobs (key, data, used) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET data = excluded.data, used = excluded.used`, key, data, now.Unix())
	return err
}

// Get implements [blob.Store].
func (s *Store) Get(ctx context.Context, key string) (data []byte, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT data FROM blobs WHERE key = ?`, key).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, blob.Gone(key)
	}
	return data, err
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }
