// Package vault seals the values in a run's history: it stores small ones in place and larger ones in a blob store,
// both encoded by the host's codec.
package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/agentscript/agentscript/temporal/blob"
)

// Codec encodes values before they are stored where others may see them, and decodes them. An error of Decode means
// that another codec encoded the data: a codec that calls a server must do its own retries.
type Codec interface {
	Encode(data []byte) ([]byte, error)
	Decode(data []byte) ([]byte, error)
}

// Sealed is a value as the history holds it.
type Sealed struct {
	Data []byte `json:"data,omitempty"`
	Blob string `json:"blob,omitempty"` // the key of the blob, if it is stored apart
	Size int    `json:"size"`
}

// HistorySize returns how many bytes it takes in the history.
func (s Sealed) HistorySize() int { return len(s.Data) + len(s.Blob) + 32 }

// Vault seals and opens values. It is safe for concurrent use.
type Vault struct {
	Blobs  blob.Store
	Codec  Codec // nil: nothing is encoded
	Inline int   // values of up to this many bytes stay in place
	cache  cache
}

// Seal seals a value. When it returns, a value that is stored apart is in the store. With stored, the caller knows that
// it is there already, and Seal does not store it again.
func (v *Vault) Seal(ctx context.Context, data []byte, stored bool) (Sealed, error) {
	s := Sealed{Size: len(data)}
	if len(data) <= v.Inline {
		encoded, err := v.encode(data)
		s.Data = encoded
		return s, err
	}
	sum := sha256.Sum256(data)
	s.Blob = hex.EncodeToString(sum[:])
	if stored || v.cache.recentlyPut(s.Blob) { // a task that took too long is retried, and gets further then
		return s, nil
	}
	if _, err := v.Put(ctx, s.Blob, data); err != nil {
		return s, err
	}
	v.cache.put(s.Blob, data, time.Now())
	return s, nil
}

// Put stores a value apart, under the given key.
func (v *Vault) Put(ctx context.Context, key string, data []byte) (Sealed, error) {
	encoded, err := v.encode(data)
	if err == nil {
		err = v.Blobs.Put(ctx, v.blobKey(key), encoded)
	}
	return Sealed{Blob: key, Size: len(data)}, err
}

// Open returns the sealed value. The caller must not change it.
func (v *Vault) Open(ctx context.Context, s Sealed) ([]byte, error) {
	if s.Blob == "" {
		return v.decode(s.Data)
	}
	if data, ok := v.cache.get(s.Blob); ok {
		return data, nil
	}
	encoded, err := v.Blobs.Get(ctx, v.blobKey(s.Blob))
	if err != nil {
		return nil, err
	}
	data, err := v.decode(encoded)
	if err == nil {
		v.cache.put(s.Blob, data, time.Time{})
	}
	return data, err
}

// ErrCodec is the error for data that another codec encoded.
var ErrCodec = errors.New("it was encoded by another codec: all workers and clients of a task queue need the same one")

// mark precedes encoded data, and the data before it is encoded.
const mark = "\x00agentscript\x00"

// blobKey returns where the blob of a key is stored: encoded and plain data have different places.
func (v *Vault) blobKey(key string) string {
	if v.Codec == nil {
		return key
	}
	sum := sha256.Sum256([]byte(mark + key))
	return hex.EncodeToString(sum[:])
}

func (v *Vault) encode(data []byte) ([]byte, error) {
	if v.Codec == nil {
		return data, nil
	}
	encoded, err := v.Codec.Encode(append([]byte(mark), data...))
	return append([]byte(mark), encoded...), err
}

func (v *Vault) decode(data []byte) ([]byte, error) {
	encoded, is := bytes.CutPrefix(data, []byte(mark))
	switch {
	case is != (v.Codec != nil):
		return nil, ErrCodec
	case !is:
		return data, nil
	}
	marked, err := v.Codec.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCodec, err)
	}
	if data, is = bytes.CutPrefix(marked, []byte(mark)); !is {
		return nil, ErrCodec
	}
	return data, nil
}
