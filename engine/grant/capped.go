package grant

import (
	"strings"

	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/internal/text"
)

// capped keeps the first most bytes written to it and drops the rest.
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

// room makes c keep more than limit, so that a secret at the end is seen whole and can be removed.
func (c *capped) room(limit int64, hidden *redact.Redactor, run *redact.Set) {
	c.most = int(limit) + max(hidden.Margin(), run.Margin())
}

// text returns the kept text without secrets, at most limit bytes long, and whether something is missing. If bytes were
// dropped, it also drops everything at the end that could be the beginning of a secret, whether it is one or not:
// otherwise what is dropped would reveal a secret letter by letter.
func (c *capped) text(limit int64, hidden *redact.Redactor, run *redact.Set) (string, bool) {
	kept := run.String(hidden.Text(string(c.kept)))
	if c.over {
		kept = kept[:max(0, len(kept)-max(hidden.Margin(), run.Margin()))]
	}
	kept = strings.ToValidUTF8(kept, "\uFFFD")
	return text.Cut(kept, int(min(limit, int64(len(kept))))), c.over || int64(len(kept)) > limit
}
