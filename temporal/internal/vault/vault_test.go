package vault

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/temporal/blob"
)

// counting counts how often a store is written.
type counting struct {
	blob.Store
	puts int
}

func (c *counting) Put(ctx context.Context, key string, data []byte) error {
	c.puts++
	return c.Store.Put(ctx, key, data)
}

// Data that was just stored is not stored again, and data that is said to be there is not stored.
func TestSealedOnce(t *testing.T) {
	of := &counting{Store: blob.Dir(t.TempDir())}
	v := &Vault{Blobs: of, Inline: 10}
	data := []byte(strings.Repeat("x", 100))
	for _, step := range []struct {
		there bool
		puts  int
	}{{true, 0}, {false, 1}, {false, 1}} {
		s, err := v.Seal(t.Context(), data, step.there)
		if err != nil || of.puts != step.puts {
			t.Fatalf("%d puts, want %d, %v", of.puts, step.puts, err)
		}
		if got, err := v.Open(t.Context(), s); step.puts > 0 && (err != nil || string(got) != string(data)) {
			t.Errorf("%q %v", got, err)
		}
	}
	other := &Vault{Blobs: of, Inline: 10}
	s := Sealed{Blob: "00"}
	if _, err := other.Open(t.Context(), s); err == nil {
		t.Error("what is not there is opened")
	}
}

// xor is a codec that makes every text illegible and decodes whatever it gets.
type xor byte

func (x xor) Encode(data []byte) ([]byte, error) {
	out := make([]byte, len(data))
	for i, b := range data {
		out[i] = b ^ byte(x)
	}
	return out, nil
}

func (x xor) Decode(data []byte) ([]byte, error) { return x.Encode(data) }

// What another codec encoded is recognized, in place and apart, and nothing replaces what a vault without a codec
// stores.
func TestAnotherCodec(t *testing.T) {
	blobs := blob.Dir(t.TempDir())
	for _, inline := range []int{10, 1000} {
		var all []*Vault
		for _, c := range []Codec{nil, xor(3), xor(4)} {
			all = append(all, &Vault{Blobs: blobs, Codec: c, Inline: inline})
		}
		for i, from := range all {
			data := strings.Repeat("x", 100) + string(rune('a'+i))
			s, err := from.Seal(t.Context(), []byte(data), false)
			if err != nil {
				t.Fatal(err)
			}
			for k := range all {
				to := &Vault{Blobs: blobs, Codec: all[k].Codec, Inline: inline} // with an empty cache
				got, err := to.Open(t.Context(), s)
				if i == k && (err != nil || string(got) != data) {
					t.Errorf("%q %v", got, err)
				}
				if i != k && !errors.Is(err, ErrCodec) && !errors.Is(err, blob.ErrGone) {
					t.Errorf("%d bytes: what vault %d sealed vault %d opens: %q %v", inline, i, k, got, err)
				}
			}
		}
	}
	plain, coded := &Vault{Blobs: blobs}, &Vault{Blobs: blobs, Codec: xor(3)}
	s, err := plain.Put(t.Context(), "00ff", []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = coded.Put(t.Context(), "00ff", []byte("text")); err != nil {
		t.Fatal(err)
	}
	if got, err := (&Vault{Blobs: blobs}).Open(t.Context(), s); err != nil || string(got) != "text" {
		t.Errorf("%q %v", got, err)
	}
}
