package eventlog

import (
	"fmt"
	"hash/maphash"

	"github.com/agentscript/agentscript/engine"
)

// Reader returns each event of a run once. The log of a history begins with everything that the run did in the previous
// histories. The reader skips the events that it returned then: it counts them by where and what they are.
type Reader struct {
	history string
	next    int64
	seed    maphash.Seed
	before  map[uint64]int // events of the previous histories, with their counts
	now     map[uint64]int
}

// NewReader returns a reader of a run from its beginning.
func NewReader() *Reader {
	return &Reader{seed: maphash.MakeSeed(), before: map[uint64]int{}, now: map[uint64]int{}}
}

// From returns the number of the first event of the next page.
func (r *Reader) From() int64 { return r.next }

// Take returns the new events of a page. again reports that the page is of another history than the previous ones: the
// caller must ask for that history from its beginning.
func (r *Reader) Take(p Page) (events []engine.Event, again bool, err error) {
	if r.history != p.History {
		whole := r.next == 0
		for key, n := range r.now {
			r.before[key] = max(r.before[key], n)
		}
		r.history, r.next, r.now = p.History, 0, map[uint64]int{}
		if !whole {
			return nil, true, nil
		}
	}
	r.next = p.Next
	for _, text := range p.Lines {
		e, err := Decode(text)
		if err != nil {
			return events, false, err
		}
		key := r.key(e)
		if r.now[key]++; r.now[key] > r.before[key] && e.Data != nil {
			events = append(events, e)
		}
	}
	return events, false, nil
}

func (r *Reader) key(e engine.Event) uint64 {
	return maphash.String(r.seed, fmt.Sprintf("%d\x00%s\x00%s\x00%s\x00%s\x00%s", e.Kind, e.Phase(), e.Path, e.ID, e.Name(), e.Text()))
}
