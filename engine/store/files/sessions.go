// Package files keeps sessions in a directory, a file each, so that they outlive the process. It
// needs nothing but the standard library.
package files

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
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
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/session"
)

// Format is the version of the form of a file. A file of another one is refused.
const Format = 1

// Sessions is an [engine.SessionStore] in a directory. What is saved is on disk when Save returns:
// each save writes a new file, syncs it and puts it in the place of the old one. So a process that
// is killed midway leaves the session as last saved. Any number of processes may use the
// directory; each session has one run at a time, by a lock that the system releases when the
// process ends, however it ends.
type Sessions struct{ dir string }

var _ engine.SessionStore = (*Sessions)(nil)

// Open opens a store, and makes the directory, with mode 0700, where there is none. Files are of
// mode 0600: what they hold was said to models.
func Open(dir string) (*Sessions, error) {
	s := &Sessions{dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, s.failed("open", err)
	}
	disk.SweepAll(dir, suffix+halfSuffix) // of processes that were killed
	return s, nil
}

// content is what a file holds, behind a line with its form and digest.
type content struct {
	ID      string                  `json:"id"`
	Script  string                  `json:"script"`
	Entries map[string]engine.Entry `json:"entries"`
	Raw     []rawEntry              `json:"raw,omitempty"` // entries that JSON has no text for
	Ops     []string                `json:"ops"`           // idempotency keys, the last of them
}

// rawEntry is an entry whose key or text is not UTF-8.
type rawEntry struct {
	Key     []byte `json:"key"`
	Text    []byte `json:"text"`
	Version int64  `json:"version"`
}

// written is c as it is in a file.
func (c *content) written() *content {
	out := *c
	out.Entries = map[string]engine.Entry{}
	for _, key := range slices.Sorted(maps.Keys(c.Entries)) {
		e := c.Entries[key]
		if utf8.ValidString(key) && utf8.ValidString(e.Text) {
			out.Entries[key] = e
		} else {
			out.Raw = append(out.Raw, rawEntry{[]byte(key), []byte(e.Text), e.Version})
		}
	}
	return &out
}

// header is the first line of a file.
type header struct {
	Format int    `json:"agentscript_session"`
	SHA256 string `json:"sha256"` // of what follows
}

const (
	suffix     = ".session"
	lockSuffix = ".lock"
	halfSuffix = ".new" // behind suffix: what is being written
)

// path is the file of a session. Some file systems do not distinguish a from A, so the name holds
// a digest as well.
func (s *Sessions) path(id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(s.dir, strings.ToLower(id)+"-"+hex.EncodeToString(sum[:4])+suffix)
}

// read reads a session. Without one the error is fs.ErrNotExist.
func (s *Sessions) read(path string) (*content, error) {
	data, err := disk.ReadRegular(path)
	if err != nil {
		return nil, err
	}
	line, body, ok := bytes.Cut(data, []byte("\n"))
	var h header
	if err := json.Unmarshal(line, &h); !ok || err != nil || h.Format == 0 {
		return nil, damaged(path, "it is no session of agentscript")
	}
	if h.Format != Format {
		return nil, engine.Errorf(engine.KindStore, diag.StoreFailed, "%s has format %d, and this version of agentscript reads %d", path, h.Format, Format).
			WithHelp("use the version that wrote it, or another session")
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != h.SHA256 {
		return nil, damaged(path, "its digest is another one")
	}
	var c content
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, damaged(path, err.Error())
	}
	if filepath.Base(s.path(c.ID)) != filepath.Base(path) { // else it would be written in the place of a session that nobody has taken
		return nil, damaged(path, "it is a copy of session "+strconv.Quote(c.ID))
	}
	for _, r := range c.Raw {
		if c.Entries == nil {
			c.Entries = map[string]engine.Entry{}
		}
		c.Entries[string(r.Key)] = engine.Entry{Text: string(r.Text), Version: r.Version}
	}
	c.Raw = nil
	return &c, nil
}

func damaged(path, why string) error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "%s is damaged: %s", path, why).
		WithHelp("restore it from a copy, or remove it and begin the session anew")
}

// write puts a session in the place of what was there, on disk when it returns. Whoever writes has the
// session's lock.
func (s *Sessions) write(c *content) error {
	body, err := json.Marshal(c.written())
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	line, err := json.Marshal(header{Format, hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	return disk.Replace(s.path(c.ID), s.path(c.ID)+halfSuffix, append(append(line, '\n'), body...))
}

// Sessions implements [engine.SessionStore]. With an error about files that cannot be read it returns
// the sessions of all others.
func (s *Sessions) Sessions(context.Context) ([]engine.SessionInfo, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, s.failed("read", err)
	}
	var all []engine.SessionInfo
	var wrong []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		c, err := s.read(filepath.Join(s.dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
			continue
		}
		if err != nil {
			wrong = append(wrong, s.failed("read", err))
			continue
		}
		info := engine.SessionInfo{ID: c.ID, Script: c.Script, Entries: len(c.Entries)}
		for _, entry := range c.Entries {
			info.Bytes += int64(len(entry.Text))
		}
		if stat, err := e.Info(); err == nil {
			info.Updated = stat.ModTime().UTC()
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b engine.SessionInfo) int { return cmp.Compare(a.ID, b.ID) })
	return all, errors.Join(wrong...)
}

// ReadSession implements [engine.SessionStore].
func (s *Sessions) ReadSession(_ context.Context, id string) (map[string]engine.Entry, error) {
	if err := session.CheckID(id); err != nil {
		return nil, err
	}
	c, err := s.read(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, session.NotFound(id)
	}
	if err != nil {
		return nil, s.failed("read", err)
	}
	return c.Entries, nil
}

// DeleteSession implements [engine.SessionStore]. A file that is damaged is removed as well.
func (s *Sessions) DeleteSession(_ context.Context, id string) (err error) {
	if err := session.CheckID(id); err != nil {
		return err
	}
	l, err := s.lock(id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := disk.Ignoring(os.Remove(s.path(id)+halfSuffix), fs.ErrNotExist); err != nil {
		return s.failed("remove a session of", err)
	}
	switch err := os.Remove(s.path(id)); {
	case errors.Is(err, fs.ErrNotExist):
		return session.NotFound(id)
	case err != nil:
		return s.failed("remove a session of", err)
	}
	return nil
}

// failed makes an error of the file system typed.
func (s *Sessions) failed(what string, err error) error {
	if _, typed := errors.AsType[*engine.Error](err); typed || err == nil {
		return err
	}
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "cannot %s the store of sessions %s: %w", what, s.dir, err).
		WithHelp("see that the directory can be read and written and the disk has room, or name another one")
}
