package vault

import (
	"container/list"
	"sync"
)

// cacheBytes bounds what a worker keeps of blobs: a workflow that is replayed opens them anew.
const cacheBytes = 64 << 20

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

func (c *cache) put(key string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[key] != nil || len(data) > cacheBytes {
		return
	}
	if c.by == nil {
		c.by = map[string]*list.Element{}
	}
	c.by[key] = c.order.PushFront(&cached{key, data})
	for c.size += len(data); c.size > cacheBytes; {
		last := c.order.Back()
		old := c.order.Remove(last).(*cached)
		delete(c.by, old.key)
		c.size -= len(old.data)
	}
}
