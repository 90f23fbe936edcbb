// Package diag defines how every other package reports about a script: a position, a coded message, notes, help and
// machine-applicable fixes, and their human and JSON forms. It is the bottom of the module and imports only the
// standard library.
//
// A diagnostic is plain data. Building one never reads a file; the renderer asks a Sources for the text it quotes and
// works without it.
package diag

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// A Pos is a place in a file. Line and Col are 1-based and Col counts runes, as the Starlark scanner does. The zero Pos
// is unknown; a Pos with a File and no Line refers to the whole file.
type Pos struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

// IsValid reports whether p names a line.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String returns "file:line:col", leaving out what is unknown; the zero Pos is "".
func (p Pos) String() string {
	if !p.IsValid() {
		return p.File
	}
	var own [96]byte // one allocation for all but long paths
	b := own[:0]
	if p.File != "" {
		b = append(append(b, p.File...), ':')
	}
	b = strconv.AppendInt(b, int64(p.Line), 10)
	if p.Col > 0 {
		b = strconv.AppendInt(append(b, ':'), int64(p.Col), 10)
	}
	return string(b)
}

// compare orders positions by file, line and column.
func (p Pos) compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.File, q.File), p.Line-q.Line, p.Col-q.Col)
}

// A Span is a piece of one line. Len counts runes; 0 means 1.
type Span struct {
	Pos
	Len int `json:"len"`
}

// Or returns the span, or other when the span is not valid.
func (s Span) Or(other Span) Span {
	if s.IsValid() {
		return s
	}
	return other
}

// Severity says how much a diagnostic matters. The zero value is Error.
type Severity uint8

const (
	Error   Severity = iota // the script is rejected, or the run failed
	Warning                 // probably a mistake; the script still loads
	Info                    // worth knowing; rendered as "note"
)

// String returns "error", "warning" or "note".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Info:
		return "note"
	}
	return "severity(" + strconv.Itoa(int(s)) + ")"
}

// MarshalText returns String, so that JSON carries the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Severity) UnmarshalText(text []byte) error {
	for _, k := range [...]Severity{Error, Warning, Info} {
		if k.String() == string(text) {
			*s = k
			return nil
		}
	}
	return fmt.Errorf("unknown severity %q: want error, warning or note", text)
}

// A Note adds a fact, about another place if Pos is valid.
type Note struct {
	Message string `json:"message"`
	Pos
}

// String returns the message followed by the position, unless the message contains it.
func (n Note) String() string {
	if at := n.Pos.String(); n.Pos.IsValid() && !strings.Contains(n.Message, at) {
		return n.Message + " at " + at
	}
	return n.Message
}

// A Fix is an edit that a tool may apply: the Len runes at Span become
// Replacement. Here a Len of 0 is an insertion.
type Fix struct {
	Message string `json:"message,omitempty"`
	Span
	Replacement string `json:"replacement"`
}

// String returns the message.
func (f Fix) String() string { return f.Message }

// A Frame is one call of a backtrace: the function that was running, and where in it.
type Frame struct {
	Name string `json:"name"`
	Pos
}

// String returns "name at file:line:col".
func (f Frame) String() string {
	if at := f.Pos.String(); at != "" {
		return f.Name + " at " + at
	}
	return f.Name
}

// A Diagnostic is one finding. Only Message is required; everything else is rendered if present.
type Diagnostic struct {
	Code     Code
	Severity Severity
	Message  string   // lower case, no final stop: what is wrong
	Span     Span     // where; zero when unknown
	Label    string   // next to the carets: what is wrong with this very token
	Notes    []Note   // why: facts from elsewhere
	Help     []string // what to do, best first; may have several lines
	Fixes    []Fix    // the fix in machine-applicable form
	Trace    []Frame  // for errors raised by running code: outermost call first
	Cause    error    // for errors.Is and errors.As; neither rendered nor encoded
}

// Error returns "file:line:col: error[AS301]: message" on one line.
func (d *Diagnostic) Error() string {
	s := d.head()
	if at := d.Span.Pos.String(); at != "" {
		s = at + ": " + s
	}
	return s
}

// Unwrap returns Cause.
func (d *Diagnostic) Unwrap() error { return d.Cause }

func (d *Diagnostic) head() string {
	s := d.Severity.String()
	if d.Code != "" {
		s += "[" + string(d.Code) + "]"
	}
	return s + ": " + d.Message
}
