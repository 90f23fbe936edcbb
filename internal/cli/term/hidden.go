package term

import (
	"io"
	"maps"
	"slices"
	"sync"
)

// hidden removes keys from texts, grouped by the source of the keys.
type hidden struct {
	mu     sync.Mutex
	from   map[string]func(text string) string
	places []string // in the order in which they are applied: the environment, "", after all files
}

// Hide removes the keys of one place, a file or with "" the environment, from everything that is written from now on.
// It forgets the earlier keys of the place.
func (c *Console) Hide(place string, without func(text string) string) {
	c.hidden.mu.Lock()
	defer c.hidden.mu.Unlock()
	if c.hidden.from == nil {
		c.hidden.from = map[string]func(string) string{}
	}
	c.hidden.from[place] = without
	c.hidden.places = slices.Sorted(maps.Keys(c.hidden.from))
	slices.Reverse(c.hidden.places)
}

// Hidden returns a text without the known keys.
func (c *Console) Hidden(text string) string {
	c.hidden.mu.Lock()
	defer c.hidden.mu.Unlock()
	for _, place := range c.hidden.places {
		text = c.hidden.from[place](text)
	}
	return text
}

// Hiding returns a writer that removes the known keys from texts. It does not detect a key that is split between two
// writes.
func (c *Console) Hiding(w io.Writer) io.Writer { return hiding{c, w} }

type hiding struct {
	c *Console
	w io.Writer
}

func (h hiding) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.w, h.c.Hidden(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
