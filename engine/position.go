package engine

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine/internal/abi"
)

// Frame is one segment of a position. Frames link upwards and are rendered only when somebody reads them, so that a
// node costs one small allocation.
//
// A path reads `main/then:review#0/par0[3]/agent:critic#1/llm0`: the kind and name with an ordinal among siblings of
// the same kind and name, or the kind and ordinal if there is no name, then the index of a branch or turn. Counting
// per kind and name keeps a path stable when an unrelated node is inserted next to it. Positions of what a callback
// calls are below that of the callback; if several callbacks share a position, they are below `when0`, `next0` or
// `until0`. Bytes of a name that the grammar uses are written as in a URL.
type Frame struct {
	up   *Frame
	kind string
	name string
	n    int32 // -1 if kind is the whole segment
	idx  int32 // branch or turn, -1 if there is none
}

// MainFrame returns the position of a run. It is the same for all runs: positions never change.
func MainFrame() *Frame { return mainFrame }

var mainFrame = &Frame{kind: "main", idx: -1}

// Child returns a position below this one.
func (f *Frame) Child(kind, name string, n int) *Frame {
	return &Frame{up: f, kind: kind, name: name, n: int32(n), idx: -1}
}

// Index returns the position of a branch or turn at this one.
func (f *Frame) Index(idx int) *Frame {
	return &Frame{up: f.up, kind: f.kind, name: f.name, n: f.n, idx: int32(idx)}
}

// PathFrame returns the position that [Frame.Path] renders as path, or nil for an empty path. It is for effects that
// another process dispatched.
func PathFrame(path string) *Frame {
	var f *Frame
	for more := path != ""; more; {
		f = &Frame{up: f, n: -1, idx: -1}
		f.kind, path, more = strings.Cut(path, "/")
	}
	return f
}

// Parent returns the position above this one, or nil for that of a run.
func (f *Frame) Parent() *Frame { return f.up }

// Root returns the position of the run.
func (f *Frame) Root() *Frame {
	for f.up != nil {
		f = f.up
	}
	return f
}

// Path renders the position as text.
func (f *Frame) Path() string {
	if f == nil {
		return ""
	}
	return string(f.append(make([]byte, 0, 64)))
}

func (f *Frame) append(b []byte) []byte {
	if f.up != nil {
		b = append(f.up.append(b), '/')
	}
	return f.Segment(b)
}

// Segment appends the text of this frame, without those above it.
func (f *Frame) Segment(b []byte) []byte {
	b = append(b, f.kind...)
	switch {
	case f.name != "":
		b = append(appendName(append(b, ':'), f.name), '#')
		b = strconv.AppendInt(b, int64(f.n), 10)
	case f.up != nil && f.n >= 0:
		b = strconv.AppendInt(b, int64(f.n), 10)
	}
	if f.idx >= 0 {
		b = append(strconv.AppendInt(append(b, '['), int64(f.idx), 10), ']')
	}
	return b
}

// appendName appends a name so that paths of different segments never read the same.
func appendName(b []byte, name string) []byte {
	const hex = "0123456789ABCDEF"
	for i, r := range name {
		c := name[i]
		switch {
		case c <= ' ' || c == 0x7f || c == '/' || c == '#' || c == '@' || c == '[' || c == ']' || c == '%',
			r == utf8.RuneError && c != "\uFFFD"[0]:
			b = append(b, '%', hex[c>>4], hex[c&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// ABI is the version of the grammar of positions and of the derivation of ids. Runs recorded under one ABI can be
// answered by every engine with that ABI.
const ABI = abi.Version
