package generable

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// FieldError says why a value, or the text of one, does not fit a type at one place.
type FieldError struct {
	Path     string // ".plan.steps[2]"; empty for the root
	Expected string // "int", "one of low, medium, high"
	Got      string // what stood there, shortened
	Hint     string // what to do; may be empty
	Offset   int    // byte offset in the decoded text, -1 when there is no text
	Line     int    // 1-based, 0 when there is no text
	Col      int    // 1-based, in runes
}

func (e *FieldError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(strings.TrimPrefix(e.Path, "."))
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "want %s, got %s", e.Expected, e.Got)
	if e.Line > 0 {
		fmt.Fprintf(&b, " at line %d, column %d", e.Line, e.Col)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// FieldErrors is all that is wrong with one value.
type FieldErrors []*FieldError

func (l FieldErrors) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns l as an error, nil when it is empty.
func (l FieldErrors) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// maxComplaints and maxComplaint bound what a model is told: the hundredth line helps nobody, and
// each of them is paid for.
const (
	maxComplaints = 30
	maxComplaint  = 8 << 10 // bytes
)

// Complaint tells a model what is wrong with its answer, one line for each error up to 30, and
// how to answer. It is empty when nothing is wrong.
func (l FieldErrors) Complaint() string {
	if len(l) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Your answer does not fit:\n")
	for i, e := range l {
		if i == maxComplaints || b.Len() > maxComplaint {
			b.WriteString("- and " + text.Count(len(l)-i, "error") + " more\n")
			break
		}
		b.WriteString("- ")
		if e.Path != "" {
			b.WriteString(strings.TrimPrefix(e.Path, ".") + ": ")
		}
		b.WriteString("expected " + e.Expected + ", got " + e.Got)
		if e.Hint != "" {
			b.WriteString(" (" + e.Hint + ")")
		}
		b.WriteString("\n")
	}
	b.WriteString("Answer again with the whole JSON value and nothing else.")
	return b.String()
}

// newFieldError makes an error about a value that has no text behind it.
func newFieldError(path, want, got, hint string) *FieldError {
	return &FieldError{Path: path, Expected: want, Got: got, Hint: hint, Offset: -1}
}

// Repair says what the decoder changed to read a text as a value. Kinds are stable words.
// Cost grows with the risk that the change is not what the author meant.
type Repair struct {
	Kind   string
	Path   string // where in the value: ".plan.steps[2]"; empty for the root
	Offset int    // byte offset in the text
	Before string // what stood there, shortened
	After  string // what it was read as, shortened; may be empty
	Cost   int
}
