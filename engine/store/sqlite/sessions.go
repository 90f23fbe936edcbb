package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// Sessions implements [engine.SessionStore].
func (s *Store) Sessions(ctx context.Context) (all []engine.SessionInfo, err error) {
	rows, err := s.file.Readers().QueryContext(ctx, `SELECT id, script, updated, count(key), coalesce(sum(length(CAST(text AS BLOB))), 0)
		FROM sessions LEFT JOIN entries ON session = id GROUP BY id ORDER BY id`)
	if err != nil {
		return nil, s.file.Failed("read", err)
	}
	defer func() { err = errors.Join(err, s.file.Failed("read", rows.Close())) }()
	for rows.Next() {
		var info engine.SessionInfo
		var updated int64
		if err := rows.Scan(&info.ID, &info.Script, &updated, &info.Entries, &info.Bytes); err != nil {
			return nil, s.file.Failed("read", err)
		}
		info.Updated = time.UnixMilli(updated).UTC()
		all = append(all, info)
	}
	return all, s.file.Failed("read", rows.Err())
}

// ReadSession implements [engine.SessionStore].
func (s *Store) ReadSession(ctx context.Context, id string) (entries map[string]engine.Entry, err error) {
	if err := session.CheckID(id); err != nil {
		return nil, err
	}
	rows, err := s.file.Readers().QueryContext(ctx, "SELECT key, text, version FROM sessions LEFT JOIN entries ON session = id WHERE id = ?", id)
	if err != nil {
		return nil, s.file.Failed("read", err)
	}
	defer func() { err = errors.Join(err, s.file.Failed("read", rows.Close())) }()
	for rows.Next() {
		if entries == nil {
			entries = map[string]engine.Entry{}
		}
		var key, text sql.NullString // an empty session is one row in which these are NULL
		var version sql.NullInt64
		if err := rows.Scan(&key, &text, &version); err != nil {
			return nil, s.file.Failed("read", err)
		}
		if key.Valid {
			entries[key.String] = engine.Entry{Text: text.String, Version: version.Int64}
		}
	}
	if err := rows.Err(); err != nil {
		return nil, s.file.Failed("read", err)
	}
	if entries == nil {
		return nil, session.NotFound(id)
	}
	return entries, nil
}

// DeleteSession implements [engine.SessionStore].
func (s *Store) DeleteSession(ctx context.Context, id string) (err error) {
	if err := session.CheckID(id); err != nil {
		return err
	}
	h, err := s.takeSession(ctx, id)
	if err != nil {
		return s.file.Failed("remove a session of", err)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	err = s.file.Do(func(tx *db.Tx) error {
		gone := int64(0)
		for _, query := range []string{"DELETE FROM entries WHERE session = ?", "DELETE FROM ops WHERE session = ?", "DELETE FROM sessions WHERE id = ?"} {
			var err error
			if gone, err = tx.Exec(query, id); err != nil {
				return err
			}
		}
		if gone == 0 {
			return db.Refuse(session.NotFound(id))
		}
		return nil
	})
	if err == nil {
		err = s.clear(ctx)
	}
	return s.file.Failed("remove a session of", err)
}
