package repl

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// history is the history of entries in a project: one JSON text per line, appended before the entry is evaluated, so
// that two sessions share it and a killed one loses nothing. It contains no known key, and only its owner may read it.
type history struct {
	path    string
	hide    func(string) string
	entries []string
	read    int64 // bytes of the file that have been read
}

const (
	mostHistory = 10_000   // entries kept
	recent      = 4 << 20  // bytes of the file that a session reads at its start
	longEntry   = 64 << 10 // bytes; a longer entry is not stored
)

// openHistory opens the history of the project in the directory dir.
func openHistory(c *term.Console, dir string) (*history, error) {
	base, missing := setup.UserDir(c, "history", "XDG_STATE_HOME", "LOCALAPPDATA", ".local", "state")
	if base == "" {
		return nil, fmt.Errorf("there is no directory for history: %s is not set", missing)
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(dir))
	h := &history{path: filepath.Join(base, filepath.Base(dir)+"-"+hex.EncodeToString(sum[:6])), hide: c.Hidden}
	info, err := os.Stat(h.path)
	if errors.Is(err, os.ErrNotExist) {
		return h, nil
	}
	if err == nil {
		h.read = max(info.Size()-recent, 0) // the line that this cuts is not valid JSON
		err = os.Chmod(h.path, 0o600)
	}
	return h, errors.Join(err, h.refresh())
}

// refresh reads what sessions have appended since the last time.
func (h *history) refresh() error {
	f, err := os.Open(h.path)
	if err != nil {
		return err
	}
	defer f.Close() // it is only read
	if info, err := f.Stat(); err == nil && info.Size() < h.read {
		h.read = 0 // it is a different file
	}
	if _, err := f.Seek(h.read, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil { // a line without an end is still being written
			break
		}
		h.read += int64(len(line))
		var entry string
		if json.Unmarshal(line, &entry) == nil && entry != "" {
			h.entries = append(h.entries, entry)
		}
	}
	if more := len(h.entries) - mostHistory; more > 0 {
		h.entries = h.entries[more:]
	}
	return nil
}

// Write appends an entry. With the methods below, it implements the source of the line editor.
func (h *history) Write(entry string) (int, error) {
	if entry = h.hide(entry); len(entry) > longEntry {
		return len(h.entries), nil
	}
	if len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return len(h.entries), nil
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return len(h.entries), err
	}
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return len(h.entries), err
	}
	line = append(line, '\n')
	if unfinished(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line) // one write, which another session cannot split
	err = errors.Join(err, f.Close(), h.refresh())
	return len(h.entries), err
}

// unfinished reports whether the last line has no end, because its writer was killed or the disk was full.
func unfinished(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// GetLine returns an entry.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.entries) {
		return "", errors.New("there is no such entry")
	}
	return h.entries[i], nil
}

// Len returns the number of entries.
func (h *history) Len() int { return len(h.entries) }

// Dump returns all entries.
func (h *history) Dump() any { return h.entries }
