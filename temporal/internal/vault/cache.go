package vault

import (
	"container/list"
	"sync"
	"time"
)

// maxCacheBytes bounds the blobs that a worker caches: the replay of a workflow opens them again.
const maxCacheBytes = 64 << 20

// putAgainAfter is the time after which a blob is put into the store again, since stores may delete what was not
// written for long.
const putAgainAfter = 5 * time.Minute

// cache holds the blobs that were used last.
type cache struct {
	mu    sync.Mutex
	by    map[string]*list.Element
	order list.List // of *cached, the most recently used first
	size  int
}

type cached struct {
	key   string
	data  []byte
	putAt time.Time // when it was put into the store, zero if it was read from there
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

// recentlyPut reports whether a blob was put into the store recently.
func (c *cache) recentlyPut(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.by[key]
	return e != nil && time.Since(e.Value.(*cached).putAt) < putAgainAfter
}

func (c *cache) put(key string, data []byte, kept time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.by[key]; e != nil {
		if !kept.IsZero() {
			e.Value.(*cached).putAt = kept
		}
		return
	}
	if len(data) > maxCacheBytes {
		return
	}
	if c.by == nil {
		c.by = map[string]*list.Element{}
	}
	c.by[key] = c.order.PushFront(&cached{key, data, kept})
	for c.size += len(data); c.size > maxCacheBytes; {
		last := c.order.Back()
		old := c.order.Remove(last).(*cached)
		delete(c.by, old.key)
		c.size -= len(old.data)
	}
}
