// Package vault seals what stands in a run's history: small texts in place, larger ones in a store of blobs, both as the
// host's codec makes them.
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

// Codec makes of what is kept what others may see, and the reverse. An error of Decode is for data that another codec has made: one
// that asks a server tries again by itself.
type Codec interface {
	Encode(data []byte) ([]byte, error)
	Decode(data []byte) ([]byte, error)
}

// Sealed is a text as it stands in the history.
type Sealed struct {
	Data []byte `json:"data,omitempty"`
	Blob string `json:"blob,omitempty"` // the key of one that is kept apart
	Size int    `json:"size"`
}

// Carried is how many bytes of it stand in the history.
func (s Sealed) Carried() int { return len(s.Data) + len(s.Blob) + 32 }

// Vault seals and opens. It is safe for concurrent use.
type Vault struct {
	Blobs  blob.Store
	Codec  Codec // nil: nothing is encoded
	Inline int   // bytes that stand in place at most
	cache  cache
}

// Seal seals a text. One that is kept apart is in the store when it returns, unless it is known to be there.
func (v *Vault) Seal(ctx context.Context, data []byte, there bool) (Sealed, error) {
	s := Sealed{Size: len(data)}
	if len(data) <= v.Inline {
		encoded, err := v.encode(data)
		s.Data = encoded
		return s, err
	}
	sum := sha256.Sum256(data)
	s.Blob = hex.EncodeToString(sum[:])
	if there || v.cache.justKept(s.Blob) { // a task that took too long is tried again, and goes further then
		return s, nil
	}
	if _, err := v.Keep(ctx, s.Blob, data); err != nil {
		return s, err
	}
	v.cache.put(s.Blob, data, time.Now())
	return s, nil
}

// Keep keeps a text apart under a key of its own.
func (v *Vault) Keep(ctx context.Context, key string, data []byte) (Sealed, error) {
	encoded, err := v.encode(data)
	if err == nil {
		err = v.Blobs.Put(ctx, v.place(key), encoded)
	}
	return Sealed{Blob: key, Size: len(data)}, err
}

// Open returns the text. It must not be changed.
func (v *Vault) Open(ctx context.Context, s Sealed) ([]byte, error) {
	if s.Blob == "" {
		return v.decode(s.Data)
	}
	if data, ok := v.cache.get(s.Blob); ok {
		return data, nil
	}
	encoded, err := v.Blobs.Get(ctx, v.place(s.Blob))
	if err != nil {
		return nil, err
	}
	data, err := v.decode(encoded)
	if err == nil {
		v.cache.put(s.Blob, data, time.Time{})
	}
	return data, err
}

// ErrCodec is the error for what another codec has made.
var ErrCodec = errors.New("it was encoded by another codec: all workers and clients of a task queue need the same one")

// mark stands before what is encoded, and before what it is made of.
const mark = "\x00agentscript\x00"

// place is where the blob of a key is: what is encoded does not take the place of what is not.
func (v *Vault) place(key string) string {
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
