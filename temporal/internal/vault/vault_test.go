package vault

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/temporal/blob"
)

// counting counts what is put into a store.
type counting struct {
	blob.Store
	puts int
}

func (c *counting) Put(ctx context.Context, key string, data []byte) error {
	c.puts++
	return c.Store.Put(ctx, key, data)
}

// What was just put into the store is not put there again, and what is only said to be there was not put.
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
