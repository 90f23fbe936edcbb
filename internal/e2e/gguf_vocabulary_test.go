package e2e

import (
	"fmt"
	"strings"
)

// vocabulary is a token for every byte, some control tokens, and whole texts.
type vocabulary struct {
	tokens []string
	kinds  []int32
	ids    map[string]int
	end    int // the token that ends an answer
}

const (
	bytesOnly = 256 // the first tokens, which stand for bytes
	kindText  = 1
	kindSteer = 3
)

func newVocabulary() *vocabulary {
	v := &vocabulary{ids: map[string]int{}}
	for b := range bytesOnly {
		v.add(shown(string([]byte{byte(b)})), kindText)
	}
	v.add(shown(" a"), kindText) // the result of the only merge: loaders require one
	v.add("<|begin|>", kindSteer)
	v.end = v.add("<|end|>", kindSteer)
	for _, r := range []string{"<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"} { // a template may put one before a message
		v.add(r, kindSteer)
	}
	return v
}

// merges returns the pairs that the tokenizer joins.
func merges() []string { return []string{shown(" ") + " a"} }

func (v *vocabulary) add(token string, kind int32) int {
	if id, ok := v.ids[token]; ok {
		return id
	}
	id := len(v.tokens)
	v.ids[token] = id
	v.tokens, v.kinds = append(v.tokens, token), append(v.kinds, kind)
	return id
}

// fill adds unused tokens until their number is a multiple of n.
func (v *vocabulary) fill(n int) {
	for len(v.tokens)%n != 0 {
		v.add(fmt.Sprintf("<|unused %d|>", len(v.tokens)), kindSteer)
	}
}

func steers(piece string) bool {
	return strings.HasPrefix(piece, "<|") && strings.HasSuffix(piece, "|>")
}

// shown writes each byte as the letter that stands for it in byte-level vocabularies: itself if it is printable in
// Latin-1, and otherwise one from 256 on.
func shown(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(letters[text[i]])
	}
	return b.String()
}

var letters = func() (letters [bytesOnly]rune) {
	next := rune(bytesOnly)
	for b := range letters {
		if b > ' ' && b <= '~' || b >= 0xa1 && b != 0xad {
			letters[b] = rune(b)
			continue
		}
		letters[b] = next
		next++
	}
	return letters
}()
