// Package vault seals what stands in a run's history: small texts in place, larger ones in a store of blobs, both as the
// host's codec makes them.
package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/agentscript/agentscript/temporal/blob"
)

// Codec makes of what is kept what others may see, and the reverse.
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
		err = v.Blobs.Put(ctx, key, encoded)
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
	encoded, err := v.Blobs.Get(ctx, s.Blob)
	if err != nil {
		return nil, err
	}
	data, err := v.decode(encoded)
	if err == nil {
		v.cache.put(s.Blob, data, time.Time{})
	}
	return data, err
}

func (v *Vault) encode(data []byte) ([]byte, error) {
	if v.Codec == nil {
		return data, nil
	}
	return v.Codec.Encode(data)
}

func (v *Vault) decode(data []byte) ([]byte, error) {
	if v.Codec == nil {
		return data, nil
	}
	return v.Codec.Decode(data)
}
