package record

import (
	"bytes"
	"io"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/store"
)

// Encode writes a part of a run: a run file with what one history recorded.
func Encode(w store.Whole) ([]byte, error) {
	var b bytes.Buffer
	to := runfile.NewWriter(&b, nil)
	err := to.Begin(runfile.Head{RunHead: w.Head, Files: w.Files})
	for _, s := range w.Steps {
		if err == nil {
			err = to.Step(s)
		}
	}
	for _, s := range w.Signals {
		if err == nil {
			err = to.Signal(s)
		}
	}
	if err == nil && w.End != nil {
		err = to.End(*w.End)
	}
	return b.Bytes(), err
}

// Whole returns the run whose parts open returns.
func Whole[P any](parts []P, open func(P) ([]byte, error)) (w store.Whole, err error) {
	for _, part := range parts {
		text, err := open(part)
		if err == nil {
			err = decode(&w, text)
		}
		if err != nil {
			return w, err
		}
	}
	return w, nil
}

// decode adds a part to a run. A step replaces an earlier one with the same id.
func decode(w *store.Whole, part []byte) error {
	at := map[string]int{}
	for i, s := range w.Steps {
		at[s.ID] = i
	}
	for lines := runfile.NewReader(bytes.NewReader(part), "the record"); ; {
		line, err := lines.Next()
		switch {
		case err == io.EOF:
			w.Steps = inOrder(w.Steps)
			return nil
		case err != nil:
			return err
		case line.Head != nil:
			w.Head, w.Files = line.Head.RunHead, line.Head.Files
		case line.Step != nil:
			if i, there := at[line.Step.ID]; there {
				w.Steps[i] = engine.Step{} // the new step comes at the end
			}
			at[line.Step.ID] = len(w.Steps)
			w.Steps = append(w.Steps, *line.Step)
		case line.Signal != nil:
			w.Signals = append(w.Signals, *line.Signal)
		case line.End != nil:
			w.End = line.End
		}
	}
}

// inOrder removes the steps that were replaced.
func inOrder(steps []engine.Step) []engine.Step {
	kept := steps[:0]
	for _, s := range steps {
		if s.ID != "" {
			kept = append(kept, s)
		}
	}
	return kept
}
