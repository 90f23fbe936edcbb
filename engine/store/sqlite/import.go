package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// sessionFile is the content of a file in which an earlier version kept a session, after a line with its format and
// digest.
type sessionFile struct {
	ID      string                  `json:"id"`
	Script  string                  `json:"script"`
	Entries map[string]engine.Entry `json:"entries"`
	Raw     []struct {
		Key     []byte `json:"key"`
		Text    []byte `json:"text"`
		Version int64  `json:"version"`
	} `json:"raw"` // entries that JSON cannot represent as text
	Ops []string `json:"ops"`

	sum string // of the file
}

const (
	sessionSuffix = ".session"
	takenSuffix   = ".imported" // after the suffix, once the store has the session
	halfSuffix    = ".new"      // after the suffix: what was being written
)

// ImportSessions takes over the sessions that an earlier version kept in a directory, one file each, and returns how
// many it took over. A file whose session the store already has from it, such as one taken over by a call that did
// not finish, is renamed and never read again. A session that is in use or damaged, or whose id another session in
// the store has, stays where it is and is reported in the error; all others are taken over. Processes that import at
// the same time do so one after the other.
func (s *Store) ImportSessions(ctx context.Context, dir string) (int, error) {
	files, err := sessionFiles(dir)
	if len(files) == 0 {
		return 0, s.file.Failed(takeOver, err)
	}
	l, err := alone(ctx, dir)
	if err != nil {
		return 0, s.file.Failed(takeOver, err)
	}
	defer l.Close()                                 // nothing depends on when others continue
	if files, err = sessionFiles(dir); err != nil { // as another process has left them
		return 0, s.file.Failed(takeOver, err)
	}
	n := 0
	var wrong []error
	for _, name := range files {
		taken, err := s.importSession(ctx, filepath.Join(dir, name))
		if taken {
			n++
		}
		wrong = append(wrong, err)
	}
	return n, errors.Join(wrong...)
}

// ImportSession takes over one session as [Store.ImportSessions] does. Without a file for it, it does nothing.
func (s *Store) ImportSession(ctx context.Context, dir, id string) error {
	if err := session.CheckID(id); err != nil {
		return err
	}
	path := filepath.Join(dir, sessionFileName(id))
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l, err := alone(ctx, dir)
	if err != nil {
		return s.file.Failed(takeOver, err)
	}
	defer l.Close() // nothing depends on when others continue
	_, err = s.importSession(ctx, path)
	return err
}

// RemoveSessionFiles removes the files in which an earlier version kept a session, including damaged files and those
// that remain after the session was taken over. It reports whether there were any.
func RemoveSessionFiles(dir, id string) (removed bool, err error) {
	if err := session.CheckID(id); err != nil {
		return false, err
	}
	path := filepath.Join(dir, sessionFileName(id))
	var all []string
	for _, suffix := range []string{"", takenSuffix, halfSuffix} {
		if _, err := os.Lstat(path + suffix); err == nil {
			all = append(all, path+suffix)
		}
	}
	if len(all) == 0 {
		return false, nil
	}
	l, err := lockFile(path)
	if err == nil {
		defer l.Close() // the file that it guards is deleted
	}
	for _, path := range all {
		if err == nil {
			err = disk.Ignoring(os.Remove(path), fs.ErrNotExist)
		}
	}
	if _, typed := errors.AsType[*engine.Error](err); err != nil && !typed {
		err = engine.Errorf(engine.KindStore, diag.StoreFailed, "cannot remove the files of session %q: %w", id, err).
			WithHelp("see that the directory can be written")
	}
	return err == nil, err
}

const takeOver = "take over sessions for"

// sessionFiles lists the session files in a directory.
func sessionFiles(dir string) (names []string, err error) {
	all, err := os.ReadDir(dir)
	for _, f := range all {
		if strings.HasSuffix(f.Name(), sessionSuffix) {
			names = append(names, f.Name())
		}
	}
	return names, disk.Ignoring(err, fs.ErrNotExist)
}

// sessionFileName returns the name of a session's file. It includes a digest, because some file systems do not
// distinguish a from A.
func sessionFileName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return strings.ToLower(id) + "-" + hex.EncodeToString(sum[:4]) + sessionSuffix
}

// alone locks a directory for the process that imports its sessions. Others wait, and then import what the process
// before them left.
func alone(ctx context.Context, dir string) (*os.File, error) {
	const patience, pause = 10 * time.Second, 5 * time.Millisecond
	for begun := time.Now(); ; {
		l, err := disk.Lock(filepath.Join(dir, "import.lock"))
		if !errors.Is(err, disk.ErrBusy) {
			return l, err
		}
		if time.Since(begun) > patience {
			return nil, engine.Errorf(engine.KindStore, diag.StoreFailed, "another process has been taking over the sessions in %s for %s", dir, patience).
				WithHelp("try again when it has ended")
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// lockFile locks the session of a file, as an earlier version does while a run uses the session.
func lockFile(path string) (*os.File, error) {
	l, err := disk.Lock(strings.TrimSuffix(path, sessionSuffix) + ".lock")
	if errors.Is(err, disk.ErrBusy) {
		name := strings.TrimSuffix(filepath.Base(path), sessionSuffix)
		return nil, session.Busy(name[:max(0, strings.LastIndexByte(name, '-'))], "of an earlier version of agentscript")
	}
	return l, err
}

// importSession takes over one session, unless it is in use. The caller has locked the directory.
func (s *Store) importSession(ctx context.Context, path string) (taken bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, s.file.Failed(takeOver, context.Cause(ctx))
	}
	l, err := lockFile(path)
	if err != nil {
		return false, s.file.Failed(takeOver, err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	c, err := readSession(path)
	if errors.Is(err, fs.ErrNotExist) { // it was taken over or removed in the meantime
		return false, nil
	}
	if err != nil {
		return false, s.file.Failed(takeOver, err)
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
	return taken, s.file.Failed(takeOver, err)
}

// insert writes the session, and reports whether it did. It stores the file's digest as an idempotency key, by which
// a later import recognizes the file.
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

// readSession reads a file and checks that it is intact.
func readSession(path string) (*sessionFile, error) {
	damaged := func(why string) error {
		return engine.Errorf(engine.KindStore, diag.StoreFailed, "%s is damaged: %s", path, why).
			WithHelp("restore it from a copy, or remove it and begin the session again")
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
	if err := json.Unmarshal(line, &form); !ok || err != nil || form.Format == 0 {
		return nil, damaged("it is no session of agentscript")
	}
	if form.Format != 1 {
		return nil, engine.Errorf(engine.KindStore, diag.StoreFailed, "%s has format %d, and this version of agentscript reads 1", path, form.Format).
			WithHelp("use the version that wrote it, or another session")
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
	if filepath.Base(path) != sessionFileName(c.ID) {
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
