package told

import (
	"fmt"
	"hash/maphash"

	"github.com/agentscript/agentscript/engine"
)

// Reader returns each event of a run once. A history of a run begins with all that the run did in those before, told anew:
// what was returned then is left out by where it happened, and how often something did there.
type Reader struct {
	history string
	next    int64
	seed    maphash.Seed
	before  map[uint64]int // what the histories before this one have told, and how often
	now     map[uint64]int
}

// NewReader returns a reader of a run from its beginning on.
func NewReader() *Reader {
	return &Reader{seed: maphash.MakeSeed(), before: map[uint64]int{}, now: map[uint64]int{}}
}

// From is the number from which on the next page is to be.
func (r *Reader) From() int64 { return r.next }

// Take returns the events of a page that are new. again reports that the page is of another history than those before: it is to
// be asked for from its beginning.
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
