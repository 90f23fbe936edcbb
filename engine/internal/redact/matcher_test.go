package redact

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/secretforms"
)

// naive replaces the longest word at the leftmost position, repeatedly.
func naive(words []word, text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		var best word
		for _, w := range words {
			if strings.HasPrefix(text[i:], w.text) && len(w.text) > len(best.text) {
				best = w
			}
		}
		if best.text == "" {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(best.mark)
		i += len(best.text)
	}
	return b.String()
}

// TestMatcherIsNaive compares the matcher with the plain algorithm, in one piece and in many.
func TestMatcherIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab "[r.IntN(3)]
		}
		return string(b)
	}
	rounds := 20_000
	if testing.Short() {
		rounds = 4_000
	}
	for range rounds {
		var words []word
		for n := range 1 + r.IntN(5) {
			text := letters(2 + r.IntN(6))
			if !slices.ContainsFunc(words, func(w word) bool { return w.text == text }) {
				words = append(words, word{text, fmt.Sprintf("<%d>", n)})
			}
		}
		m, text := newMatcher(words), letters(r.IntN(40))
		want := naive(words, text)
		if got := m.replace(text); got != want {
			t.Fatalf("%q in %q: %q, want %q", words, text, got, want)
		}
		if m.holds(text) != (want != text) {
			t.Fatalf("%q in %q: holds says %v", words, text, m.holds(text))
		}
		var b strings.Builder
		left := ""
		for rest := text; rest != ""; {
			n := 1 + r.IntN(len(rest))
			var out string
			out, left = m.scan(left+rest[:n], true)
			b.WriteString(out)
			rest = rest[n:]
			if len(left) >= len(m.words[0].text) {
				t.Fatalf("%q in %q: %q is held back", words, text, left)
			}
		}
		out, _ := m.scan(left, false)
		if b.WriteString(out); b.String() != want {
			t.Fatalf("%q in pieces of %q: %q, want %q", words, text, b.String(), want)
		}
	}
}

// TestFoldedCodes: encoders break lines at some width, which may split a secret anywhere.
func TestFoldedCodes(t *testing.T) {
	secret := "sk-proj-" + strings.Repeat("Abc123_-", 20)
	set := New([]string{secret})
	fold := func(s string, width int, end string) string {
		var b strings.Builder
		for ; len(s) > width; s = s[width:] {
			b.WriteString(s[:width] + end)
		}
		return b.String() + s
	}
	step := 1
	if testing.Short() {
		step = 7 // not a multiple of what base64 and hex encode together
	}
	for _, width := range []int{16, 60, 64, 76} {
		for _, end := range []string{"\n", "\r\n"} {
			for before := 0; before < 90; before += step {
				whole := strings.Repeat("x", before) + secret + " and the rest of it"
				for how, text := range map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(whole)), "hex": hex.EncodeToString([]byte(whole))} {
					folded := "It is:\n" + fold(text, width, end) + "\nThat is all.\n"
					stream, streamed := Stream{Keys: set}, ""
					for rest, n := folded, 1; rest != ""; n = n%5 + 1 {
						n = min(n, len(rest))
						streamed += stream.Add(rest[:n])
						rest = rest[n:]
					}
					got := set.String(folded)
					if streamed += stream.End(); streamed != got {
						t.Fatalf("%s folded at %d, %d before, in pieces: %s", how, width, before, streamed)
					}
					if strings.Count(got, Marker) != 1 || !set.Holds(folded) || !strings.HasPrefix(got, "It is:\n") || !strings.HasSuffix(got, "\nThat is all.\n") {
						t.Fatalf("%s folded at %d, %d before: %s", how, width, before, got)
					}
				}
			}
		}
	}
	for _, text := range []string{"one line\nand another\n", strings.Repeat("word ", 20) + "\n" + strings.Repeat("A", 80) + "\n" + strings.Repeat("B", 80), "\n\n\n"} {
		if got := set.String(text); got != text || set.Holds(text) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestNoPartOfAKeyIsLeftAtACut cuts a message at every byte of each form of a key.
func TestNoPartOfAKeyIsLeftAtACut(t *testing.T) {
	key := "sk-proj/+=<&>-0123456789abcdefghijklmnop"
	s := New([]string{key, "another-key-0123456789"})
	for _, form := range secretforms.Of(key) {
		for n := Shortest; n < len(form); n++ {
			for _, cut := range []string{"…", "..."} {
				got := s.Error(&engine.Error{Message: "it says: " + form[:n] + cut + " (400)", Cause: errors.New(form[:n] + cut)})
				want := Marker + cut
				if utf8.ValidString(form[:n]) && (!strings.Contains(got.Message, want) || strings.Contains(got.Message, form[:Shortest]) || got.Cause.Error() != want) {
					t.Fatalf("%q cut at %d: %q, caused by %q", form, n, got.Message, got.Cause)
				}
			}
		}
	}
	for _, text := range []string{"is sk-…", "…", "sk-proj/ and…", "another key..."} {
		if e := (&engine.Error{Message: text}); s.Error(e) != e {
			t.Errorf("%q: %q", text, s.Error(e).Message)
		}
	}
}

func BenchmarkMatcher(b *testing.B) {
	var keys []string
	for i := range 4 {
		keys = append(keys, fmt.Sprintf("sk-%d-%s", i, strings.Repeat("Xy7_", 12)))
	}
	set, text := New(keys), strings.Repeat("The quick brown fox jumps over the lazy dog, in JSON: {\"a\": 1}.\n", 32)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if set.Holds(text) {
			b.Fatal("found")
		}
	}
}
