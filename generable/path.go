package generable

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// path is the way from the root of a value to one place in it, linked upwards so that a walk
// costs nothing until an error has to name the place. A nil path is the root.
type path struct {
	up   *path
	name string // a field or a key; unused for an index
	idx  int    // an index when isIdx
	is   pathKind
}

type pathKind uint8

const (
	pathField pathKind = iota
	pathIndex
	pathItems // all of them: name as it is, [] or [str]
)

func (p *path) String() string {
	var b strings.Builder
	p.write(&b)
	return b.String()
}

// write goes up by recursion and not through a slice of steps, which would move every step of
// every walk to the heap.
func (p *path) write(b *strings.Builder) {
	if p == nil {
		return
	}
	p.up.write(b)
	if p.is == pathIndex {
		b.WriteByte('[')
		b.WriteString(strconv.Itoa(p.idx))
		b.WriteByte(']')
		return
	}
	if p.is == pathItems {
		b.WriteString(p.name)
		return
	}
	writeKey(b, p.name)
}

func writeKey(b *strings.Builder, name string) {
	var buf [64]byte
	b.Write(appendKey(buf[:0], name))
}

// appendKey appends one step by name: .name, or ["some key"] for what is no plain word.
func appendKey(b []byte, name string) []byte {
	if isWord(name) {
		return append(append(b, '.'), name...)
	}
	return append(text.AppendQuoted(append(b, '['), name), ']')
}

// keyPath is the path of a field at the root.
func keyPath(name string) string {
	var b strings.Builder
	writeKey(&b, name)
	return b.String()
}

func isWord(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}
