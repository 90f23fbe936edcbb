package coerce

import (
	"unsafe"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// Arena allocates the parts of a result in blocks, whose size doubles up to a bound: a text of brackets has as many
// lists as bytes, and a block is one allocation. A reference to a part of a result keeps its block alive, as a
// reference to one of its strings keeps the text alive.
type Arena struct {
	vals    block[generable.Value]
	keys    block[string]
	lists   block[generable.List]
	dicts   block[generable.Map]
	records block[generable.Record]
	bytes   []byte
	ahead   int32 // the size of the next block of bytes
}

// block is the rest of the last block of parts of one type.
type block[T any] struct {
	free []T
	next int32 // the size of the next block; 0 means the minimum
}

// Blocks have at least minBlock and at most maxBlock parts (MaxBytes bytes). Requests larger than OwnBlock or
// OwnBytes get their own block.
const (
	minBlock = 4
	maxBlock = 512
	MaxBytes = 4 << 10
	OwnBlock = 128
	OwnBytes = 256
)

// take returns n parts.
func (b *block[T]) take(n int, least int32) []T {
	if n > len(b.free) {
		if n > OwnBlock {
			return make([]T, n)
		}
		b.free = make([]T, max(n, int(NextBlock(&b.next, least, maxBlock))))
	}
	v := b.free[:n:n]
	b.free = b.free[n:]
	return v
}

// one returns a part.
func (b *block[T]) one() *T { return &b.take(1, minBlock)[0] }

// Expect sets the sizes of the first blocks to the needs of a small tape, so that keeping a small value keeps no more
// memory than it needs.
func (r *Arena) Expect(t []tape.Node) {
	if len(t) > maxBlock {
		return
	}
	vals, keys, lists, records := int32(-1), int32(0), int32(0), int32(0) // the root is not a part
	for i := 1; i < len(t); i++ {                                         // the first node is a placeholder
		switch n := &t[i]; {
		case n.Flags&tape.FlagKey != 0:
			keys++
			continue
		case n.Kind == tape.NodeArr:
			lists++
		case n.Kind == tape.NodeObj:
			records++
		}
		vals++
	}
	r.vals.next, r.keys.next, r.lists.next, r.records.next, r.dicts.next = max(vals, 0), keys, lists, records, records
}

// NextBlock returns the size of the next block and doubles the size after it. It returns least if no size is
// expected.
func NextBlock(next *int32, least, most int32) int32 {
	n := *next
	if n == 0 {
		n = least
	}
	*next = min(2*n, most)
	return n
}

// Values returns room for n values.
func (r *Arena) Values(n int) []generable.Value { return r.vals.take(n, 2*minBlock) }

// names returns room for n keys.
func (r *Arena) names(n int) []string { return r.keys.take(n, 2*minBlock) }

// List returns a list of the given items.
func (r *Arena) List(items []generable.Value) generable.Value {
	l := r.lists.one()
	in.SetList(l, items)
	return l.Value()
}

// newMap returns an empty dict with room for n entries, as [generable.NewMap] does.
func (r *Arena) newMap(n int) *generable.Map {
	m := r.dicts.one()
	in.SetMap(m, r.names(n)[:0], r.Values(n)[:0])
	return m
}

// Dict returns a dict of the given entries, whose keys must differ.
func (r *Arena) Dict(keys []string, vals []generable.Value) generable.Value {
	m := r.dicts.one()
	in.SetMap(m, append(r.names(len(keys))[:0], keys...), append(r.Values(len(vals))[:0], vals...))
	return m.Value()
}

// Record returns an instance of t, as [generable.NewRecord] does.
func (r *Arena) Record(t *generable.Type, vals []generable.Value) generable.Value {
	rec := r.records.one()
	in.SetRecord(rec, t, vals)
	return rec.Value()
}

// Text returns a buffer to which a text of up to n bytes can be appended. [Arena.Keep] makes a string of it; no other
// text may be begun before that.
func (r *Arena) Text(n int) []byte {
	if n > len(r.bytes) {
		if n > OwnBytes {
			return make([]byte, 0, n)
		}
		r.bytes = make([]byte, NextBlock(&r.ahead, OwnBytes, MaxBytes))
	}
	return r.bytes[:0:n]
}

// Keep returns the bytes appended to a text as a string.
func (r *Arena) Keep(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(r.bytes) > 0 && &b[0] == &r.bytes[0] {
		r.bytes = r.bytes[len(b):]
	}
	return unsafe.String(&b[0], len(b))
}
