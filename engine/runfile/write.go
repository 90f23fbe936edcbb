package runfile

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/agentscript/agentscript/engine"
)

// Version is the version of the format. It changes when an older reader would misread a file; additional fields,
// kinds of effects or kinds of lines do not change it.
const Version = 2

// Head is what a run began with.
type Head struct {
	engine.RunHead
	Files *engine.Bundle `json:"files,omitempty"` // the script, for files that can be resumed where the script is not known
}

// Writer writes runs to a file, one after the other. It must not be used by several goroutines at once.
type Writer struct {
	to   io.Writer
	hide func(string) string
}

// NewWriter returns a writer. Each line is written by a single Write. hide removes from a line what must not be
// written; nil removes nothing.
func NewWriter(to io.Writer, hide func(string) string) *Writer { return &Writer{to, hide} }

// Begin writes what a run begins with.
func (w *Writer) Begin(h Head) error {
	return w.line(struct {
		Version int `json:"v"`
		Head
	}{Version, h})
}

// Step writes a step. A later line with the same id replaces it.
func (w *Writer) Step(s engine.Step) error { return w.line(s) }

// Signal writes a signal that was sent to the run and not taken yet.
func (w *Writer) Signal(s engine.Signal) error {
	return w.line(struct {
		Signal engine.Signal `json:"signal"`
	}{s})
}

// End writes how the run ended.
func (w *Writer) End(e engine.RunEnd) error { return w.line(e) }

func (w *Writer) line(row any) error {
	line, err := encode(row, w.hide)
	if err == nil {
		_, err = w.to.Write(line)
	}
	return err
}

// EncodeStep returns a step as a line.
func EncodeStep(s engine.Step, hide func(string) string) ([]byte, error) { return encode(s, hide) }

func encode(row any, hide func(string) string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(row); err != nil {
		return nil, err
	}
	if hide == nil {
		return b.Bytes(), nil
	}
	return []byte(hide(b.String())), nil
}

// StateOf returns the state of a step with the given outcome. A step that waits has the failure that it has so far.
func StateOf(out engine.Outcome) engine.StepState {
	switch {
	case out.Err == nil:
		return engine.StepDone
	case out.Err.Kind == engine.KindApproval:
		return engine.StepWaiting
	}
	return engine.StepFailed
}
