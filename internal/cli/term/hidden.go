package term

import (
	"io"
	"maps"
	"slices"
	"sync"
)

// hidden is what takes keys out of texts, by where the keys are from.
type hidden struct {
	mu     sync.Mutex
	from   map[string]func(text string) string
	places []string // in the order in which they are asked: the environment, "", after all files
}

// Hide has the keys from one place, a file or with "" the environment, taken out of everything that is written from
// now on. Those that the place held before are forgotten.
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

// Hidden returns a text without the keys that are known.
func (c *Console) Hidden(text string) string {
	c.hidden.mu.Lock()
	defer c.hidden.mu.Unlock()
	for _, place := range c.hidden.places {
		text = c.hidden.from[place](text)
	}
	return text
}

// Hiding returns a writer of texts without the keys that are known. A key that two writes divide is not seen.
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
