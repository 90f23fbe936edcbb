package cassette

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/internal/redact"
)

// Replayer answers model calls from a record, without any model, and the other effects that were
// recorded. It is the handler of every kind of which the record holds effects. One is answered by what the
// same request returned when it was recorded; of several such, by that of its position, else in
// the order of the record, so that it does not matter in which order branches ask. Each row
// answers once. One that was not recorded fails, and the error says in what it differs from the
// nearest one that was; in virtual time not before nothing else can go on, as its branch may be ended by
// another, as it was when it was recorded.
type Replayer struct {
	name   string
	redact func(string) string
	rows   []*entry

	sessions []*entry // what sessions held
	seed     *uint64  // of the run, nil when it drew no random number

	mu    sync.Mutex
	byKey map[string][]*entry
}

var _ engine.Handler = (*Replayer)(nil)

// longestLine bounds a line of a record, in bytes.
const longestLine = 256 << 20

// Replay reads a record that [Record] wrote. The name is that of the file, for messages. What was
// kept out of the record by redact must be kept out of messages, too.
func Replay(from io.Reader, name string, redact func(string) string) (*Replayer, error) {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	r := &Replayer{name: name, redact: redact, byKey: map[string][]*entry{}}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestLine)
	for n := 1; lines.Scan(); n++ {
		data := bytes.TrimSpace(lines.Bytes())
		if len(data) == 0 {
			continue
		}
		row, err := decodeEntry(data)
		if err != nil {
			return nil, engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s:%d: %w", name, n, err).
				WithHelp("record the calls again")
		}
		row.line = n
		switch row.Kind {
		case sessionKind:
			r.sessions = append(r.sessions, row)
			continue
		case seedKind:
			seed, err := seedOf(row)
			if err != nil {
				return nil, engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s:%d: %w", name, n, err)
			}
			if r.seed == nil { // of several runs it is that of the first
				r.seed = seed
			}
			continue
		}
		r.rows = append(r.rows, row)
		r.byKey[row.Key] = append(r.byKey[row.Key], row)
	}
	if err := lines.Err(); err != nil {
		return nil, engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s: %w", name, err)
	}
	return r, nil
}

// Do implements [engine.Handler].
func (r *Replayer) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	key, problem := entryKey(e)
	if problem != nil {
		return engine.Failed(problem)
	}
	clock.Turn(ctx)
	row := r.take(key, e.At.Path())
	if row == nil && clock.Last(ctx) != nil {
		return engine.Failed(engine.Errorf(engine.KindCancelled, diag.Cancelled, "the call was cancelled, as it was when it was recorded"))
	}
	if row != nil {
		return replay(e, sink, row.outcome())
	}
	asked, err := newEntry(e)
	if err != nil {
		return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "a call of %s cannot be compared with the record: %w", e.Agent, err))
	}
	if row := r.takeRedacted(asked); row != nil {
		return replay(e, sink, row.outcome())
	}
	return engine.Failed(r.missing(asked))
}

// take returns the row that answers a call, nil when there is none.
func (r *Replayer) take(key, path string) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found *entry
	for _, row := range r.byKey[key] {
		if row.used {
			continue
		}
		if row.Path == path {
			found = row
			break
		}
		if found == nil {
			found = row
		}
	}
	if found != nil {
		found.used = true
	}
	return found
}

// takeRedacted returns the row of a call that held a key when it was recorded: the key may not be known now, and then
// the call has another digest. All but what replaces the key must be the same.
func (r *Replayer) takeRedacted(asked *entry) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range r.rows {
		if row.used || row.Kind != asked.Kind || row.Name != asked.Name || row.Agent != asked.Agent || !maps.Equal(row.Types, asked.Types) || !fitsRedacted(string(row.Request), string(asked.Request)) {
			continue
		}
		row.used = true
		return row
	}
	return nil
}

// fitsRedacted reports whether a text is another one but for the marks of keys in that, each of which stands for
// something that could be a key.
func fitsRedacted(marked, text string) bool {
	pieces := strings.Split(marked, redact.Marker)
	rest, ok := strings.CutPrefix(text, pieces[0])
	for _, piece := range pieces[1:] {
		if !ok || len(rest) < redact.Shortest {
			return false
		}
		key := redact.Shortest
		if piece != "" {
			if at := strings.Index(rest[key:], piece); at >= 0 {
				key += at
			} else {
				return false
			}
		} else {
			key = len(rest)
		}
		if strings.ContainsAny(rest[:key], " \t\n") {
			return false
		}
		rest = rest[key+len(piece):]
	}
	return ok && len(pieces) > 1 && rest == ""
}

// Unused returns the lines of calls that were recorded and not made now.
func (r *Replayer) Unused() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []int
	for _, row := range r.rows {
		if !row.used {
			lines = append(lines, row.line)
		}
	}
	return lines
}
