package runfile

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/agentscript/agentscript/engine"
)

// Version is that of the form. It changes when an older reader would misread a file; a field, a kind of effect or of
// line more does not change it.
const Version = 2

// Head is what a run began with.
type Head struct {
	engine.RunHead
	Files *engine.Bundle `json:"files,omitempty"` // the script, in files that are to be resumed where it is not known
}

// Writer writes runs to a file, one after the other. It is for one goroutine.
type Writer struct {
	to   io.Writer
	hide func(string) string
}

// NewWriter returns a writer. Each line is written by a single Write. What hide takes out of a text is not written; nil
// takes out nothing.
func NewWriter(to io.Writer, hide func(string) string) *Writer { return &Writer{to, hide} }

// Begin writes what a run begins with.
func (w *Writer) Begin(h Head) error {
	return w.line(struct {
		Version int `json:"v"`
		Head
	}{Version, h})
}

// Step writes a step. A later line of the same id takes its place.
func (w *Writer) Step(s engine.Step) error { return w.line(s) }

// Signal writes what was sent to the run and is not taken yet.
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

// StateOf is the state of a step that came to an outcome, or that waits with the failure that it has so far.
func StateOf(out engine.Outcome) engine.StepState {
	switch {
	case out.Err == nil:
		return engine.StepDone
	case out.Err.Kind == engine.KindApproval:
		return engine.StepWaiting
	}
	return engine.StepFailed
}
