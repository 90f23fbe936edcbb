package coerce

import (
	"unsafe"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// Arena is where the parts of a result come from. They lie in blocks, which double up to a
// bound: a text of brackets has as many lists as bytes, and a block is one allocation. Who
// keeps a part of a result keeps its block, as its strings keep the text.
type Arena struct {
	Vals    []generable.Value
	keys    []string
	lists   []generable.List
	dicts   []generable.Map
	records []generable.Record
	bytes   []byte
	sizes   blockSizes
}

// blockSizes are the sizes of the blocks made next; 0 is the least.
type blockSizes struct{ forVals, forKeys, forLists, forDicts, forRecords, forBytes int32 }

// Blocks have at least and at most so many parts. What is larger has a block of its own.
const (
	minBlock  = 4
	maxBlock  = 512
	MaxBytes  = 4 << 10
	OwnBlock  = 128
	OwnBytes  = 256
	maxFrames = 256
)

// Expect sets the sizes of the first blocks to what a small tape holds: who keeps a small value keeps no
// more than that.
func (r *Arena) Expect(t []tape.Node) {
	if len(t) > maxBlock {
		return
	}
	vals, keys, lists, records := int32(-1), int32(0), int32(0), int32(0) // what all are in is no part
	for i := 1; i < len(t); i++ {                                         // the first stands for none
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
	r.sizes.forVals, r.sizes.forKeys, r.sizes.forLists = max(vals, 0), keys, lists
	r.sizes.forRecords, r.sizes.forDicts = records, records
}

// NextBlock is the size of the next block, and makes the one after it twice as large. The least holds
// where nothing is expected.
func NextBlock(next *int32, least, most int32) int32 {
	n := *next
	if n == 0 {
		n = least
	}
	*next = min(2*n, most)
	return n
}

// Values returns room for n values.
func (r *Arena) Values(n int) []generable.Value {
	if n > len(r.Vals) {
		if n > OwnBlock {
			return make([]generable.Value, n)
		}
		r.Vals = make([]generable.Value, max(n, int(NextBlock(&r.sizes.forVals, 2*minBlock, maxBlock))))
	}
	v := r.Vals[:n:n]
	r.Vals = r.Vals[n:]
	return v
}

// names returns room for n keys.
func (r *Arena) names(n int) []string {
	if n > len(r.keys) {
		if n > OwnBlock {
			return make([]string, n)
		}
		r.keys = make([]string, max(n, int(NextBlock(&r.sizes.forKeys, 2*minBlock, maxBlock))))
	}
	v := r.keys[:n:n]
	r.keys = r.keys[n:]
	return v
}

// List returns a list of those items.
func (r *Arena) List(items []generable.Value) generable.Value {
	if len(r.lists) == 0 {
		r.lists = make([]generable.List, NextBlock(&r.sizes.forLists, minBlock, maxBlock))
	}
	l := &r.lists[0]
	r.lists = r.lists[1:]
	in.SetList(l, items)
	return l.Value()
}

// newMap returns an empty dict with room for n entries, as [generable.NewMap] does.
func (r *Arena) newMap(n int) *generable.Map {
	m := r.blankMap()
	in.SetMap(m, r.names(n)[:0], r.Values(n)[:0])
	return m
}

// blankMap returns a dict to be set.
func (r *Arena) blankMap() *generable.Map {
	if len(r.dicts) == 0 {
		r.dicts = make([]generable.Map, NextBlock(&r.sizes.forDicts, minBlock, maxBlock))
	}
	m := &r.dicts[0]
	r.dicts = r.dicts[1:]
	return m
}

// Dict returns a dict of those entries, whose keys differ.
func (r *Arena) Dict(keys []string, vals []generable.Value) generable.Value {
	m := r.blankMap()
	in.SetMap(m, append(r.names(len(keys))[:0], keys...), append(r.Values(len(vals))[:0], vals...))
	return m.Value()
}

// Record returns an instance of t, as [generable.NewRecord] does.
func (r *Arena) Record(t *generable.Type, vals []generable.Value) generable.Value {
	if len(r.records) == 0 {
		r.records = make([]generable.Record, NextBlock(&r.sizes.forRecords, minBlock, maxBlock))
	}
	rec := &r.records[0]
	r.records = r.records[1:]
	in.SetRecord(rec, t, vals)
	return rec.Value()
}

// Text returns room for a text of up to n bytes, to be appended to. [Arena.Keep] makes a string
// of it; before that, no other text may be begun.
func (r *Arena) Text(n int) []byte {
	if n > len(r.bytes) {
		if n > OwnBytes {
			return make([]byte, 0, n)
		}
		r.bytes = make([]byte, NextBlock(&r.sizes.forBytes, OwnBytes, MaxBytes))
	}
	return r.bytes[:0:n]
}

// Keep returns what was appended to a text as a string.
func (r *Arena) Keep(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(r.bytes) > 0 && &b[0] == &r.bytes[0] {
		r.bytes = r.bytes[len(b):]
	}
	return unsafe.String(&b[0], len(b))
}
