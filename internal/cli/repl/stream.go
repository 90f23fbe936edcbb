package repl

import (
	"io"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
)

// stream writes answers as they arrive, one after the other: while one is written, those of other calls wait.
type stream struct {
	write func(string) error
	calls []*answer // the first is being written
	last  string    // the answer written last
	open  bool      // the last written line has not ended
}

// answer is the answer of a call.
type answer struct {
	path  string
	text  strings.Builder
	ended bool
}

func (*stream) Kinds() engine.EventKind { return engine.EventToken | engine.EventEffect }

func (t *stream) Event(e engine.Event) {
	switch d := e.Data.(type) {
	case *event.Token:
		if d.Reasoning || d.Call != nil || d.Text == "" {
			return
		}
		a := t.of(e.Path)
		if a == nil {
			a = &answer{path: e.Path}
			t.calls = append(t.calls, a)
		}
		a.text.WriteString(d.Text)
		if a == t.calls[0] {
			t.put(d.Text)
		}
	case *event.Effect:
		if a := t.of(e.Path); a != nil && d.Phase == engine.PhaseEnd {
			t.done(a)
		}
	}
}

// of returns the answer of a call that has not ended.
func (t *stream) of(path string) *answer {
	for _, a := range t.calls {
		if a.path == path && !a.ended {
			return a
		}
	}
	return nil
}

// done ends an answer, and writes those that waited for it.
func (t *stream) done(a *answer) {
	a.ended = true
	for len(t.calls) > 0 && t.calls[0].ended {
		t.end()
		if t.calls = t.calls[1:]; len(t.calls) > 0 {
			t.put(t.calls[0].text.String())
		}
	}
}

// end ends the line of the answer being written.
func (t *stream) end() {
	if len(t.calls) == 0 {
		return
	}
	t.last = t.calls[0].text.String()
	t.endLine()
}

// endLine ends the line being written, if there is one.
func (t *stream) endLine() {
	if t.open {
		t.put("\n")
	}
}

func (t *stream) put(text string) {
	_ = t.write(text) // a terminal that is closed ends the input too
	t.open = !strings.HasSuffix(text, "\n")
}

// besides writes lines that are not part of answers: each begins on a new line.
type besides struct {
	answers *stream
	io.Writer
}

func (b besides) Write(text []byte) (int, error) {
	b.answers.endLine()
	return b.Writer.Write(text)
}

// said reports whether the whole answer was written.
func (t *stream) said(answer string) bool {
	return answer != "" && strings.TrimSpace(t.last) == strings.TrimSpace(answer)
}
