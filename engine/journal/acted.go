package journal

import (
	"strings"

	"github.com/agentscript/agentscript/engine"
)

// Acted implements [engine.DurableJournal].
func (j *Journal) Acted(position string) bool { return j.acted[position] }

// Recorded implements [engine.DurableJournal]. Effects of the run that this one is a fork of do not count: the fork
// may do something else at their positions.
func (j *Journal) Recorded(position string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.rows[j.at[position]]
	return r != nil && !r.live && !r.other
}

// actedAt returns the positions of the tool calls below which a run had effects, other than the approval or budget of
// the call itself.
func actedAt(rows map[string]*row) map[string]bool {
	const call = "/tool:"
	at := map[string]bool{}
	for id, r := range rows {
		position := Position(id)
		for from := 0; !r.other; {
			i := strings.Index(position[from:], call)
			if i < 0 {
				break
			}
			from += i + len(call)
			end := strings.IndexByte(position[from:], '/')
			if end < 0 {
				break // the call itself
			}
			end += from
			asked := (r.step.Kind == engine.EffectApproval || r.step.Kind == engine.EffectBudget) && !strings.Contains(position[end+1:], "/")
			if !asked {
				at[position[:end]] = true
			}
		}
	}
	return at
}
