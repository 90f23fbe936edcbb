package eventlog

import (
	"encoding/json"

	"github.com/agentscript/agentscript/engine"
)

const (
	maxLogBytes  = 2 << 20  // bounds the events of one history: the oldest are dropped
	maxPageBytes = 24 << 10 // bounds one page, which is smaller than what is stored as a blob
)

// Log holds the events of a run in one history. A replay of the history produces the same log, so that a number refers
// to the same event on each worker.
type Log struct {
	lines [][]byte
	first int64 // the number of the first line
	bytes int
}

// Add adds an event.
func (l *Log) Add(e engine.Event) {
	text, err := encode(e)
	if err != nil { // events are only for people
		return
	}
	l.lines = append(l.lines, text)
	l.bytes += len(text)
	for l.bytes > maxLogBytes {
		l.bytes -= len(l.lines[0])
		l.lines[0] = nil
		l.lines = l.lines[1:]
		l.first++
	}
}

// Page is a part of a log.
type Page struct {
	History string            `json:"history"` // the history of the events: the log of another one begins anew
	Lines   []json.RawMessage `json:"lines,omitempty"`
	Next    int64             `json:"next"` // the number after the last event
	More    bool              `json:"more,omitempty"`
	Lost    int64             `json:"lost,omitempty"` // events that were asked for and are dropped
	Parked  bool              `json:"parked,omitempty"`
}

// Page returns the events from a number on.
func (l *Log) Page(from int64) (p Page) {
	if from < l.first {
		p.Lost, from = l.first-from, l.first
	}
	at := min(from-l.first, int64(len(l.lines)))
	size := 0
	for _, text := range l.lines[at:] {
		if size += len(text); size > maxPageBytes && len(p.Lines) > 0 {
			p.More = true
			break
		}
		p.Lines = append(p.Lines, text)
	}
	p.Next = l.first + at + int64(len(p.Lines))
	return p
}
