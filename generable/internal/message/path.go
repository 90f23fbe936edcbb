package message

import (
	"strconv"

	"github.com/agentscript/agentscript/generable/internal/jsonstr"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

// AppendStep appends the step to a key of the text. The key may have any length, and each record about its content
// has it in its path, so it is shortened.
func AppendStep(b []byte, key string) []byte { return AppendKey(b, Shorten(key)) }

// Path is the path from the root of a value to one place in it. It is linked upwards so that a walk costs nothing
// until an error must name the place. A nil path is the root.
type Path struct {
	Up   *Path
	Name string // a field or a key; unused for an index
	Idx  int    // the index of an item
	Is   pathKind
}

type pathKind uint8

const (
	InField pathKind = iota
	InList
	InItems // all of them: name is shown verbatim, [] or [str]
)

// Key returns the path of a field or a key below p.
func (p *Path) Key(name string) *Path { return &Path{Up: p, Name: name} }

// Index returns the path of an item below p.
func (p *Path) Index(i int) *Path { return &Path{Up: p, Idx: i, Is: InList} }

// Part returns the path of several parts below p at once, shown verbatim: [], [str].
func (p *Path) Part(shown string) *Path { return &Path{Up: p, Name: shown, Is: InItems} }

func (p *Path) String() string { return string(p.appendTo(nil)) }

// appendTo recurses upwards instead of collecting steps in a slice, which would move every step of every walk to the
// heap.
func (p *Path) appendTo(b []byte) []byte {
	if p == nil {
		return b
	}
	b = p.Up.appendTo(b)
	switch p.Is {
	case InList:
		return AppendIndex(b, p.Idx)
	case InItems:
		return append(b, p.Name...)
	}
	return AppendKey(b, p.Name)
}

// AppendIndex appends the step to an item.
func AppendIndex(b []byte, i int) []byte {
	return append(strconv.AppendInt(append(b, '['), int64(i), 10), ']')
}

// AppendKey appends one step by name: .name, or ["some key"] for anything but a plain word.
func AppendKey(b []byte, name string) []byte {
	if IsWord(name) {
		return append(append(b, '.'), name...)
	}
	return append(text.AppendQuoted(append(b, '['), name), ']')
}

// KeyPath returns the path of a field at the root.
func KeyPath(name string) string {
	var own [64]byte
	return string(AppendKey(own[:0], name))
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

var firstStep = lazy.Regexp(`(?s)^(\.[^.\[]+|\["([^"\\]|\\.)*"\]|\[[0-9]+\])`)

// CutStep removes the first step from a path. It returns an empty step if the path does not begin with one.
func CutStep(path string) (step string, isIndex bool, rest string) {
	step = firstStep().FindString(path)
	rest = path[len(step):]
	switch {
	case step == "":
		return "", false, path
	case step[0] == '.':
		return step[1:], false, rest
	case step[1] == '"':
		key, _ := jsonstr.Unescape(step[2:len(step)-2], jsonstr.Whole)
		return key, false, rest
	}
	return step[1 : len(step)-1], true, rest
}
