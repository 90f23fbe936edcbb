package message

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// AppendStep appends the step to a key of the text, which may be of any length: each record
// about what is in there has it in its path.
func AppendStep(b []byte, key string) []byte { return AppendKey(b, Shorten(key)) }

// Path is the way from the root of a value to one place in it, linked upwards so that a walk
// costs nothing until an error has to name the place. A nil path is the root.
type Path struct {
	Up   *Path
	Name string // a field or a key; unused for an index
	Idx  int    // an index when isIdx
	Is   pathKind
}

type pathKind uint8

const (
	InField pathKind = iota
	InList
	InItems // all of them: name as it is, [] or [str]
)

func (p *Path) String() string {
	var b strings.Builder
	p.write(&b)
	return b.String()
}

// write goes up by recursion and not through a slice of steps, which would move every step of
// every walk to the heap.
func (p *Path) write(b *strings.Builder) {
	if p == nil {
		return
	}
	p.Up.write(b)
	if p.Is == InList {
		b.WriteByte('[')
		b.WriteString(strconv.Itoa(p.Idx))
		b.WriteByte(']')
		return
	}
	if p.Is == InItems {
		b.WriteString(p.Name)
		return
	}
	writeKey(b, p.Name)
}

func writeKey(b *strings.Builder, name string) {
	var buf [64]byte
	b.Write(AppendKey(buf[:0], name))
}

// AppendKey appends one step by name: .name, or ["some key"] for what is no plain word.
func AppendKey(b []byte, name string) []byte {
	if IsWord(name) {
		return append(append(b, '.'), name...)
	}
	return append(text.AppendQuoted(append(b, '['), name), ']')
}

// KeyPath is the path of a field at the root.
func KeyPath(name string) string {
	var b strings.Builder
	writeKey(&b, name)
	return b.String()
}

func IsWord(s string) bool {
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
