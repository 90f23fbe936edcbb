package runfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agentscript/agentscript/engine"
)

// longestLine is the maximum length of a line, in bytes.
const longestLine = 128 << 20

// Line is a line of a file. One of the first four fields is set.
type Line struct {
	Head   *Head
	Step   *engine.Step
	Signal *engine.Signal // sent and not taken
	End    *engine.RunEnd
	N      int // its number, from 1
}

// Reader reads a file line by line. It must not be used by several goroutines at once.
type Reader struct {
	name  string
	lines *bufio.Scanner
	n     int
	begun bool // a head was read, or the file's format has none
	cut   int
}

// NewReader returns a reader of a file. The name is used in messages.
func NewReader(from io.Reader, name string) *Reader {
	r := &Reader{name: name, lines: bufio.NewScanner(from)}
	r.lines.Buffer(nil, longestLine)
	r.lines.Split(wholeLines)
	return r
}

// wholeLines splits lines as bufio.ScanLines does, but keeps their ends: a line without an end may be cut.
func wholeLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// Next returns the next line, and [io.EOF] after the last one. Errors name the file and the line. Fields and kinds of
// lines that this version does not know are skipped. A last line that was cut, as a killed process leaves it, is
// omitted.
func (r *Reader) Next() (Line, error) {
	for r.lines.Scan() {
		r.n++
		data := bytes.TrimSpace(r.lines.Bytes())
		if len(data) == 0 {
			continue
		}
		if !bytes.HasSuffix(r.lines.Bytes(), []byte("\n")) && !json.Valid(data) && (r.begun || beginsHead(data)) {
			r.cut = r.n
			break
		}
		line, err := r.read(data)
		if err != nil {
			return Line{}, fmt.Errorf("%s:%d: %w", r.name, r.n, err)
		}
		if line == (Line{}) {
			continue
		}
		line.N = r.n
		return line, nil
	}
	err := r.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("it is longer than %d MB, which no line of a run is", longestLine>>20)
	}
	if err != nil {
		return Line{}, fmt.Errorf("%s:%d: %w", r.name, r.n+1, err)
	}
	return Line{}, io.EOF
}

// Cut returns the number of the last line if it was cut and omitted, and 0 otherwise.
func (r *Reader) Cut() int { return r.cut }

// beginsHead reports whether a text is the beginning of a head, however short.
func beginsHead(data []byte) bool {
	const begin = `{"v":2,`
	return strings.HasPrefix(begin, string(data[:min(len(data), len(begin))]))
}

func (r *Reader) read(data []byte) (line Line, err error) {
	var is struct {
		Version *int             `json:"v"`
		ID      string           `json:"id"`
		Status  engine.RunStatus `json:"status"`
		Signal  *engine.Signal   `json:"signal"`
	}
	if err := json.Unmarshal(data, &is); err != nil {
		return line, fmt.Errorf("it is no line of a recorded run: %w", err)
	}
	kindless := is.ID == "" && is.Status == ""
	switch {
	case is.Version != nil && *is.Version == Version:
		r.begun, line.Head = true, &Head{}
		err = json.Unmarshal(data, line.Head)
	case is.Version != nil && *is.Version == earlier:
		r.begun = true
		return earlierLine(data)
	case is.Version != nil:
		return line, fmt.Errorf("it is of version %d, and versions %d and %d are known", *is.Version, earlier, Version)
	case kindless && (!r.begun || bytes.Equal(data, []byte("null"))):
		return line, fmt.Errorf("it is neither the head of a run, a step nor an end")
	case !r.begun:
		return line, fmt.Errorf("the run has no head, which is its first line")
	case kindless: // a signal, or something that a newer version adds
		line.Signal = is.Signal
	case is.ID != "":
		line.Step = &engine.Step{}
		err = decodeStep(data, line.Step)
	default:
		line.End = &engine.RunEnd{}
		err = json.Unmarshal(data, line.End)
	}
	return line, err
}

// DecodeStep reads a step that [EncodeStep] wrote, or a step of the previous format.
func DecodeStep(data []byte) (engine.Step, error) {
	line, err := (&Reader{begun: true}).read(data)
	if err == nil && line.Step == nil {
		err = fmt.Errorf("it is no step")
	}
	if err != nil {
		return engine.Step{}, err
	}
	return *line.Step, nil
}

func decodeStep(data []byte, s *engine.Step) error {
	if err := json.Unmarshal(data, s); err != nil {
		return fmt.Errorf("it is no step: %w", err)
	}
	return flaw(s)
}

// flaw returns an error if a step is invalid. Others rely on valid steps.
func flaw(s *engine.Step) error {
	ended := true
	switch s.State {
	case engine.StepIntent, engine.StepWaiting, engine.StepLeft:
		ended = false
	case engine.StepDone, engine.StepFailed, engine.StepCaught:
	default:
		return fmt.Errorf("its step has the state %q, which is not known", s.State)
	}
	switch {
	case s.Kind == "":
		return fmt.Errorf("its step has no kind")
	case ended && s.Outcome == nil:
		return fmt.Errorf("its step has ended, and has no outcome")
	}
	if flaw := (&engine.Outcome{Usage: s.Usage}).Flaw(nil); flaw != "" {
		return fmt.Errorf("its step has %s", flaw)
	}
	return nil
}
