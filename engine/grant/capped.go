package grant

import (
	"strings"

	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/internal/text"
)

// capped keeps the beginning of what is written to it and drops the rest.
type capped struct {
	kept []byte
	most int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.most - len(c.kept)
	c.over = c.over || len(p) > room
	c.kept = append(c.kept, p[:min(room, len(p))]...)
	return len(p), nil
}

// text is what was kept as a text of at most limit bytes, without secrets, and whether something
// is missing. More is kept than limit so that no part of a secret is left at its end.
func (c *capped) text(limit int64, hidden *redact.Redactor) (string, bool) {
	kept := hidden.Text(string(c.kept))
	if c.over {
		kept = hidden.Ahead(kept)
	}
	kept = strings.ToValidUTF8(kept, "\uFFFD")
	return text.Cut(kept, int(min(limit, int64(len(kept))))), c.over || int64(len(kept)) > limit
}
