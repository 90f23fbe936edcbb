package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// sessionFile is what a file holds that an earlier version kept a session in, behind a line with its form and
// digest.
type sessionFile struct {
	ID      string                  `json:"id"`
	Script  string                  `json:"script"`
	Entries map[string]engine.Entry `json:"entries"`
	Raw     []struct {
		Key     []byte `json:"key"`
		Text    []byte `json:"text"`
		Version int64  `json:"version"`
	} `json:"raw"` // entries that JSON has no text for
	Ops []string `json:"ops"`

	sum string // of the file
}

const (
	sessionSuffix = ".session"
	takenSuffix   = ".imported" // behind the suffix, once the store has the session
)

// ImportSessions takes over the sessions that an earlier version kept in a directory, a file each, and returns how
// many. A file whose session the store has is renamed, and is not looked at again; so is one that was taken over by a call
// that did not come to its end. A session that cannot be taken over, since it is in use, damaged, or there is another
// one of its name, stays as it is, and is in the error; all others are taken over beside it.
func (s *Store) ImportSessions(ctx context.Context, dir string) (int, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	n := 0
	wrong := []error{s.file.Failed("take over sessions for", err)}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), sessionSuffix) {
			continue
		}
		taken, err := s.importSession(ctx, filepath.Join(dir, f.Name()))
		if taken {
			n++
		}
		wrong = append(wrong, err)
	}
	return n, errors.Join(wrong...)
}

// importSession takes over one session, unless somebody uses it.
func (s *Store) importSession(ctx context.Context, path string) (taken bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, s.file.Failed("take over sessions for", context.Cause(ctx))
	}
	lock := strings.TrimSuffix(path, sessionSuffix) + ".lock"
	l, err := disk.Lock(lock)
	if errors.Is(err, disk.ErrBusy) {
		return false, session.Busy(strings.TrimSuffix(filepath.Base(path), sessionSuffix), "")
	}
	if err != nil {
		return false, s.file.Failed("take over sessions for", err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	c, err := readSession(path)
	if err != nil {
		return false, s.file.Failed("take over sessions for", err)
	}
	info, err := os.Stat(path)
	if err == nil {
		err = s.file.Do(func(tx *db.Tx) error {
			var insertErr error
			taken, insertErr = c.insert(tx, info.ModTime().UnixMilli())
			return insertErr
		})
	}
	if err == nil {
		err = os.Rename(path, path+takenSuffix)
	}
	return taken, s.file.Failed("take over sessions for", err)
}

// insert writes the session, and reports whether it did. Its digest stands with its idempotency keys, so that it is known
// again.
func (c *sessionFile) insert(tx *db.Tx, updated int64) (bool, error) {
	var there int
	switch err := tx.Row("SELECT 1 FROM ops WHERE session = ? AND op = ?", []any{c.ID, "import " + c.sum}, &there); {
	case err == nil:
		return false, nil
	case !errors.Is(err, sql.ErrNoRows):
		return false, err
	}
	fresh, err := tx.Exec("INSERT INTO sessions (id, script, epoch, updated) VALUES (?, ?, 1, ?) ON CONFLICT DO NOTHING", c.ID, c.Script, updated)
	if err != nil {
		return false, err
	}
	if fresh == 0 {
		return false, db.Refuse(engine.Errorf(engine.KindStore, diag.StoreFailed, "session %q cannot be taken over: the store has another one of that name", c.ID).
			WithHelp("remove the one of them that is not needed: agentscript sessions rm %s, or its file", c.ID))
	}
	for _, key := range slices.Sorted(maps.Keys(c.Entries)) {
		e := c.Entries[key]
		if _, err := tx.Exec("INSERT INTO entries (session, key, version, text) VALUES (?, ?, ?, ?)", c.ID, key, e.Version, e.Text); err != nil {
			return false, err
		}
	}
	for _, op := range append(c.Ops, "import "+c.sum) {
		if _, err := tx.Exec("INSERT INTO ops (session, op) VALUES (?, ?) ON CONFLICT DO NOTHING", c.ID, op); err != nil {
			return false, err
		}
	}
	return true, nil
}

// readSession reads a file and checks that it is whole.
func readSession(path string) (*sessionFile, error) {
	damaged := func(why string) error {
		return engine.Errorf(engine.KindStore, diag.StoreFailed, "%s is damaged: %s", path, why).
			WithHelp("restore it from a copy, or remove it and begin the session anew")
	}
	data, err := disk.ReadRegular(path)
	if err != nil {
		return nil, err
	}
	line, body, ok := bytes.Cut(data, []byte("\n"))
	var form struct {
		Format int    `json:"agentscript_session"`
		SHA256 string `json:"sha256"`
	}
	if err := json.Unmarshal(line, &form); !ok || err != nil || form.Format != 1 {
		return nil, damaged("it is no session of agentscript, or of a later version")
	}
	sum := sha256.Sum256(body)
	c := &sessionFile{sum: hex.EncodeToString(sum[:])}
	if c.sum != form.SHA256 {
		return nil, damaged("its digest is another one")
	}
	if err := json.Unmarshal(body, c); err != nil {
		return nil, damaged(err.Error())
	}
	if err := session.CheckID(c.ID); err != nil {
		return nil, damaged(err.Error())
	}
	id := sha256.Sum256([]byte(c.ID))
	if want := strings.ToLower(c.ID) + "-" + hex.EncodeToString(id[:4]) + sessionSuffix; filepath.Base(path) != want {
		return nil, damaged("it is a copy of session " + strconv.Quote(c.ID))
	}
	for _, r := range c.Raw {
		if c.Entries == nil {
			c.Entries = map[string]engine.Entry{}
		}
		c.Entries[string(r.Key)] = engine.Entry{Text: string(r.Text), Version: r.Version}
	}
	return c, nil
}
