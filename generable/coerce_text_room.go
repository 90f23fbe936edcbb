package generable

import "unsafe"

// room is where the parts of a result come from. They lie in blocks, which double up to a
// bound: a text of brackets has as many lists as bytes, and a block is one allocation. Who
// keeps a part of a result keeps its block, as its strings keep the text.
type room struct {
	vals    []Value
	keys    []string
	lists   []List
	dicts   []Map
	records []Record
	bytes   []byte
	sizes   blockSizes
}

// blockSizes are the sizes of the blocks made next; 0 is the least.
type blockSizes struct{ forVals, forKeys, forLists, forDicts, forRecords, forBytes int32 }

// Blocks have at least and at most so many parts. What is larger has a block of its own.
const (
	minBlock  = 4
	maxBlock  = 512
	maxBytes  = 4 << 10
	ownBlock  = 128
	ownBytes  = 256
	maxFrames = 256
)

// expect sets the sizes of the first blocks to what a small tape holds: who keeps a small value keeps no
// more than that.
func (r *room) expect(tape []node) {
	if len(tape) > maxBlock {
		return
	}
	vals, keys, lists, records := int32(-1), int32(0), int32(0), int32(0) // what all are in is no part
	for i := 1; i < len(tape); i++ {                                      // the first stands for none
		switch n := &tape[i]; {
		case n.flags&flagKey != 0:
			keys++
			continue
		case n.kind == nodeArr:
			lists++
		case n.kind == nodeObj:
			records++
		}
		vals++
	}
	r.sizes.forVals, r.sizes.forKeys, r.sizes.forLists = max(vals, 0), keys, lists
	r.sizes.forRecords, r.sizes.forDicts = records, records
}

// nextBlock is the size of the next block, and makes the one after it twice as large. The least holds
// where nothing is expected.
func nextBlock(next *int32, least, most int32) int32 {
	n := *next
	if n == 0 {
		n = least
	}
	*next = min(2*n, most)
	return n
}

// values returns room for n values.
func (r *room) values(n int) []Value {
	if n > len(r.vals) {
		if n > ownBlock {
			return make([]Value, n)
		}
		r.vals = make([]Value, max(n, int(nextBlock(&r.sizes.forVals, 2*minBlock, maxBlock))))
	}
	v := r.vals[:n:n]
	r.vals = r.vals[n:]
	return v
}

// names returns room for n keys.
func (r *room) names(n int) []string {
	if n > len(r.keys) {
		if n > ownBlock {
			return make([]string, n)
		}
		r.keys = make([]string, max(n, int(nextBlock(&r.sizes.forKeys, 2*minBlock, maxBlock))))
	}
	v := r.keys[:n:n]
	r.keys = r.keys[n:]
	return v
}

// list returns a list of those items.
func (r *room) list(items []Value) Value {
	if len(r.lists) == 0 {
		r.lists = make([]List, nextBlock(&r.sizes.forLists, minBlock, maxBlock))
	}
	l := &r.lists[0]
	r.lists = r.lists[1:]
	in.SetList(l, items)
	return l.Value()
}

// newMap returns an empty dict with room for n entries, as [NewMap] does.
func (r *room) newMap(n int) *Map {
	m := r.blankMap()
	in.SetMap(m, r.names(n)[:0], r.values(n)[:0])
	return m
}

// blankMap returns a dict to be set.
func (r *room) blankMap() *Map {
	if len(r.dicts) == 0 {
		r.dicts = make([]Map, nextBlock(&r.sizes.forDicts, minBlock, maxBlock))
	}
	m := &r.dicts[0]
	r.dicts = r.dicts[1:]
	return m
}

// dict returns a dict of those entries, whose keys differ.
func (r *room) dict(keys []string, vals []Value) Value {
	m := r.blankMap()
	in.SetMap(m, append(r.names(len(keys))[:0], keys...), append(r.values(len(vals))[:0], vals...))
	return m.Value()
}

// record returns an instance of t, as [NewRecord] does.
func (r *room) record(t *Type, vals []Value) Value {
	if len(r.records) == 0 {
		r.records = make([]Record, nextBlock(&r.sizes.forRecords, minBlock, maxBlock))
	}
	rec := &r.records[0]
	r.records = r.records[1:]
	in.SetRecord(rec, t, vals)
	return rec.Value()
}

// text returns room for a text of up to n bytes, to be appended to. [room.keep] makes a string
// of it; before that, no other text may be begun.
func (r *room) text(n int) []byte {
	if n > len(r.bytes) {
		if n > ownBytes {
			return make([]byte, 0, n)
		}
		r.bytes = make([]byte, nextBlock(&r.sizes.forBytes, ownBytes, maxBytes))
	}
	return r.bytes[:0:n]
}

// keep returns what was appended to a text as a string.
func (r *room) keep(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(r.bytes) > 0 && &b[0] == &r.bytes[0] {
		r.bytes = r.bytes[len(b):]
	}
	return unsafe.String(&b[0], len(b))
}
