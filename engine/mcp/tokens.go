package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/mcp/internal/oauth"
	"github.com/agentscript/agentscript/internal/sorting"
)

// Tokens stores sign-ins by the URL of the server. Their content is secret.
type Tokens interface {
	// Update calls f with the data stored under a key, nil if there is none, and stores what f returns instead, nil to
	// delete it. While f runs, nobody else updates the key, not even another process: a refresh token is valid only
	// once.
	Update(ctx context.Context, key string, f func(kept []byte) ([]byte, error)) error
}

// WithTokens sets where sign-ins are stored: by default in memory, as long as the Client exists.
func WithTokens(t Tokens) Option { return func(c *config) { c.tokens = t } }

// memoryTokens stores sign-ins until the process ends.
type memoryTokens struct{ kept sync.Map } // *memoryToken by key

type memoryToken struct {
	mu   sync.Mutex // held during an update, so that updates of other keys need not wait
	data []byte
}

// Update implements [Tokens].
func (m *memoryTokens) Update(_ context.Context, key string, f func([]byte) ([]byte, error)) error {
	at, _ := m.kept.LoadOrStore(key, &memoryToken{})
	t := at.(*memoryToken)
	t.mu.Lock()
	defer t.mu.Unlock()
	next, err := f(t.data)
	if err == nil {
		t.data = next
	}
	return err
}

// TokenDir stores sign-ins in this directory, one file each, which only the owner can read. The directory is created
// with the first sign-in.
type TokenDir string

const (
	tokenSuffix = ".json"
	halfSuffix  = ".new" // after tokenSuffix: a file being written
)

// path returns the file of a key. Its name contains the host, so that people recognize it.
func (d TokenDir) path(key string) string {
	_, host, _ := strings.Cut(key, "://")
	host, _, _ = strings.Cut(host, "/")
	host = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, host)
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(string(d), strings.TrimLeft(host[:min(len(host), 80)], ".")+"-"+hex.EncodeToString(sum[:6])+tokenSuffix)
}

// Update implements [Tokens].
func (d TokenDir) Update(ctx context.Context, key string, f func([]byte) ([]byte, error)) (err error) {
	path := d.path(key)
	if _, err := os.Stat(string(d)); errors.Is(err, fs.ErrNotExist) { // nothing is stored, and reading creates nothing
		next, err := f(nil)
		if err != nil || next == nil {
			return err
		}
		if err := os.MkdirAll(string(d), 0o700); err != nil {
			return err
		}
		f = func([]byte) ([]byte, error) { return next, nil }
	}
	lock, err := d.lock(ctx, strings.TrimSuffix(path, tokenSuffix)+".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	disk.SweepAll(string(d), tokenSuffix+halfSuffix) // left by processes that were killed
	kept, err := readToken(path)
	if err != nil {
		return err
	}
	next, err := f(kept)
	switch {
	case err != nil || bytes.Equal(next, kept):
		return err
	case next == nil:
		return disk.Ignoring(os.Remove(path), fs.ErrNotExist)
	}
	return disk.Replace(path, path+halfSuffix, next)
}

// lock waits for other processes that renew the same token, which takes them one request.
func (d TokenDir) lock(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := disk.Lock(path)
		if !errors.Is(err, disk.ErrBusy) {
			return f, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("another process holds %s: %w", path, context.Cause(ctx))
		}
	}
}

// readToken reads a file, which must not be readable by others than its owner.
func readToken(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, disk.Ignoring(err, fs.ErrNotExist)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s can be read by others (mode %04o), and its token may be known: sign out and in again, or chmod 600 it", path, mode)
	}
	return os.ReadFile(path)
}

// List returns the sign-ins in the directory, and an error for those that cannot be read.
func (d TokenDir) List() ([]SignedIn, error) {
	out := []SignedIn{}
	entries, err := os.ReadDir(string(d))
	wrong := []error{disk.Ignoring(err, fs.ErrNotExist)}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), tokenSuffix) {
			continue
		}
		data, err := readToken(filepath.Join(string(d), e.Name()))
		wrong = append(wrong, err)
		if signedIn, ok := oauth.SignedInOf(data); ok {
			out = append(out, signedIn)
		}
	}
	sorting.By(out, func(a, b SignedIn) int { return strings.Compare(a.URL, b.URL) })
	return out, errors.Join(wrong...)
}
