package grant

import (
	"io"
	"strings"
	"unicode/utf8"
)

// capped keeps the beginning of what is written to it and drops the rest.
type capped struct {
	kept []byte
	most int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.most - len(c.kept)
	if len(p) > room {
		c.over = true
		c.kept = append(c.kept, p[:max(room, 0)]...)
	} else {
		c.kept = append(c.kept, p...)
	}
	return len(p), nil
}

var _ io.Writer = (*capped)(nil)

// text is what was kept as a text of at most limit bytes, without secrets, and whether something
// is missing. More is kept than limit so that no part of a secret is left at its end.
func (c *capped) text(limit int64, s *secrets) (string, bool) {
	text := s.scrub(string(c.kept))
	if c.over {
		text = s.whole(text)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if int64(len(text)) <= limit {
		return text, c.over
	}
	return cut(text, int(limit)), true
}

// cut is the first bytes of a text, without a part of a character at the end.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
