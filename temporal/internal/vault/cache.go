package vault

import (
	"container/list"
	"sync"
	"time"
)

// cacheBytes bounds what a worker keeps of blobs: a workflow that is replayed opens them anew.
const cacheBytes = 64 << 20

// keptAnew is after how long a blob is put into the store again: stores may drop what was not written for long.
const keptAnew = 5 * time.Minute

// cache keeps the blobs that were used last.
type cache struct {
	mu    sync.Mutex
	by    map[string]*list.Element
	order list.List // of *cached, the last used first
	size  int
}

type cached struct {
	key  string
	data []byte
	kept time.Time // when it was put into the store, zero if it came from there
}

func (c *cache) get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.by[key]
	if e == nil {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).data, true
}

// justKept reports whether a blob was put into the store not long ago.
func (c *cache) justKept(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.by[key]
	return e != nil && time.Since(e.Value.(*cached).kept) < keptAnew
}

func (c *cache) put(key string, data []byte, kept time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.by[key]; e != nil {
		if !kept.IsZero() {
			e.Value.(*cached).kept = kept
		}
		return
	}
	if len(data) > cacheBytes {
		return
	}
	if c.by == nil {
		c.by = map[string]*list.Element{}
	}
	c.by[key] = c.order.PushFront(&cached{key, data, kept})
	for c.size += len(data); c.size > cacheBytes; {
		last := c.order.Back()
		old := c.order.Remove(last).(*cached)
		delete(c.by, old.key)
		c.size -= len(old.data)
	}
}
