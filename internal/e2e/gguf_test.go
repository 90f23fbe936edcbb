package e2e

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// parsedGGUF is a file as a reader of the format sees it.
type parsedGGUF struct {
	meta    map[string]any
	tensors map[string][]float32
	size    int // where the last tensor ends
}

func parseGGUF(t *testing.T, data []byte) parsedGGUF {
	t.Helper()
	r := bytes.NewReader(data)
	number := func(into any) {
		if err := binary.Read(r, binary.LittleEndian, into); err != nil {
			t.Fatal(err)
		}
	}
	u32 := func() (n uint32) { number(&n); return }
	u64 := func() (n uint64) { number(&n); return }
	text := func() string {
		b := make([]byte, u64())
		number(b)
		return string(b)
	}
	value := func(kind uint32) any {
		switch kind {
		case typeUint32:
			return u32()
		case typeInt32:
			return int32(u32())
		case typeFloat32:
			var f float32
			number(&f)
			return f
		case typeBool:
			var b bool
			number(&b)
			return b
		case typeString:
			return text()
		}
		t.Fatalf("type %d", kind)
		return nil
	}
	magic := make([]byte, 4)
	number(magic)
	if v := u32(); string(magic) != "GGUF" || v != 3 {
		t.Fatalf("%q, version %d", magic, v)
	}
	p := parsedGGUF{meta: map[string]any{}, tensors: map[string][]float32{}}
	tensors, keys := u64(), u64()
	for range keys {
		key, kind := text(), u32()
		if kind != typeArray {
			p.meta[key] = value(kind)
			continue
		}
		kind = u32()
		list := make([]any, u64())
		for i := range list {
			list[i] = value(kind)
		}
		p.meta[key] = list
	}
	type place struct {
		name         string
		count, start int
	}
	var places []place
	for range tensors {
		at := place{name: text(), count: 1}
		for range u32() {
			at.count *= int(u64())
		}
		if kind := u32(); kind != tensorFloat32 {
			t.Fatalf("tensor of type %d", kind)
		}
		at.start = int(u64())
		places = append(places, at)
	}
	base := aligned(len(data) - r.Len())
	for _, at := range places {
		if at.start%alignment != 0 {
			t.Errorf("%s stands at %d", at.name, at.start)
		}
		floats := make([]float32, at.count)
		if err := binary.Read(bytes.NewReader(data[base+at.start:]), binary.LittleEndian, floats); err != nil {
			t.Fatalf("%s: %v", at.name, err)
		}
		p.tensors[at.name] = floats
		p.size = base + aligned(at.start+4*at.count)
	}
	return p
}

func TestRandomGGUF(t *testing.T) {
	data := randomGGUF(3)
	p := parseGGUF(t, data)
	if p.size != len(data) || len(data) > 1<<20 {
		t.Errorf("%d bytes, of which %d are used", len(data), p.size)
	}
	if !bytes.Equal(data, randomGGUF(3)) || bytes.Equal(data, randomGGUF(4)) {
		t.Error("the seed does not decide")
	}
	tokens := p.meta["tokenizer.ggml.tokens"].([]any)
	if n := len(tokens); n != int(p.meta["llama.vocab_size"].(uint32)) || n != len(p.meta["tokenizer.ggml.token_type"].([]any)) || n*64 != len(p.tensors["output.weight"]) {
		t.Errorf("%d tokens, %v", n, p.meta["llama.vocab_size"])
	}
	seen := map[any]bool{}
	for i, token := range tokens {
		if seen[token] || token == "" {
			t.Errorf("token %d, %q, is not its own", i, token)
		}
		seen[token] = true
	}
	if tokens['a'] != "a" || tokens[' '] != "Ġ" || tokens['\n'] != "Ċ" || tokens[0xff] != "ÿ" {
		t.Errorf("%q %q %q %q", tokens['a'], tokens[' '], tokens['\n'], tokens[0xff])
	}
}

// TestScriptedGGUF follows the table in the weights.
func TestScriptedGGUF(t *testing.T) {
	if _, err := scriptedGGUF([]string{"<|one|>", "Hello", ", world", "."}, []string{"<|two|>", "tick ", "tock ", "tick "}); err == nil {
		t.Fatal("a single byte is taken")
	}
	data, err := scriptedGGUF([]string{"<|one|>", "Hello", ", world", "!!"}, []string{"<|two|>", "tick ", "tock ", "tick "})
	if err != nil {
		t.Fatal(err)
	}
	p := parseGGUF(t, data)
	var tokens []string
	for _, token := range p.meta["tokenizer.ggml.tokens"].([]any) {
		tokens = append(tokens, token.(string))
	}
	says := func(from string, most int) string {
		var said []string
		n := len(tokens)
		for range most {
			at, best := -1, 0
			for i, token := range tokens {
				if token == from {
					at = i
				}
			}
			for i := range tokens {
				if p.tensors["output.weight"][i*n+at] > p.tensors["output.weight"][best*n+at] {
					best = i
				}
			}
			from = tokens[best]
			said = append(said, from)
		}
		return strings.Join(said, "|")
	}
	if got := says("<|one|>", 4); got != "Hello|,Ġworld|!!|<|end|>" {
		t.Error(got)
	}
	if got := says("<|two|>", 4); got != "tickĠ|tockĠ|tickĠ|tockĠ" {
		t.Error(got)
	}
	if got := says("<|assistant|>", 1); got == "Hello" {
		t.Error(got)
	}
}

func TestScriptedGGUFRefuses(t *testing.T) {
	for _, chains := range [][][]string{
		{{"<|one|>"}}, {{}}, {{"one", "two"}},
		{{"<|one|>", "here", "there", "here", "more"}},
		{{"<|one|>", "here"}, {"<|two|>", "here"}},
		{{"<|one|>", "here"}, {"<|one|>", "there"}},
		{{"<|one|>", "x"}},
	} {
		if _, err := scriptedGGUF(chains...); err == nil {
			t.Errorf("%q is taken", chains)
		}
	}
}
