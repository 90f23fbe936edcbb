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

// history is what was entered in a project: one JSON text a line, appended before it is evaluated, so that two
// sessions share it and a killed one loses nothing. It holds no key that is known.
type history struct {
	path    string
	hide    func(string) string
	entries []string
	read    int64 // bytes of the file that entries hold
}

// mostHistory bounds the entries that are read.
const mostHistory = 10_000

// openHistory opens the history of a project, whose directory is dir.
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
	return h, h.refresh()
}

// refresh reads what sessions appended since.
func (h *history) refresh() error {
	f, err := os.Open(h.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // it is only read
	if _, err := f.Seek(h.read, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil { // a line without an end is being written
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

// Write appends an entry. It implements the source of the line editor, as the methods behind it do.
func (h *history) Write(entry string) (int, error) {
	entry = h.hide(entry)
	if len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return len(h.entries), nil
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return len(h.entries), err
	}
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return len(h.entries), err
	}
	_, err = f.Write(append(line, '\n')) // one write, which another session does not divide
	err = errors.Join(err, f.Close(), h.refresh())
	return len(h.entries), err
}

// GetLine returns an entry.
func (h *history) GetLine(i int) (string, error) {
	if i < 0 || i >= len(h.entries) {
		return "", errors.New("there is no such entry")
	}
	return h.entries[i], nil
}

// Len returns how many entries there are.
func (h *history) Len() int { return len(h.entries) }

// Dump returns all entries.
func (h *history) Dump() any { return h.entries }
