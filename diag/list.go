package diag

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/text"
)

// A List holds the findings of one pass. As an error it stands for all of them; Err returns nil if none is an Error.
type List []*Diagnostic

// Add appends diagnostics, except nil ones.
//
//go:noinline
func (l *List) Add(ds ...*Diagnostic) {
	for _, d := range ds {
		if d != nil {
			*l = append(*l, d)
		}
	}
}

// Error returns one line for each diagnostic.
func (l List) Error() string {
	lines := make([]string, 0, len(l))
	for _, d := range l {
		lines = append(lines, d.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.Is and errors.As inspect every diagnostic.
func (l List) Unwrap() []error {
	errs := make([]error, 0, len(l))
	for _, d := range l {
		errs = append(errs, d)
	}
	return errs
}

// Err returns the list as an error, or nil when it holds no Error.
func (l List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}

// HasErrors reports whether any diagnostic is an Error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d *Diagnostic) bool { return d.Severity == Error })
}

// Sort orders the list by file, line, column and code, keeping the order of
// equals, and drops repetitions: same place, code, severity, message and label.
func (l *List) Sort() {
	sorting.By(*l, func(a, b *Diagnostic) int {
		return cmp.Or(a.Span.Pos.compare(b.Span.Pos), cmp.Compare(a.Code, b.Code))
	})
	type key struct {
		pos      Pos
		code     Code
		severity Severity
		message  string
		label    string
	}
	seen := make(map[key]bool, len(*l))
	*l = slices.DeleteFunc(*l, func(d *Diagnostic) bool {
		k := key{d.Span.Pos, d.Code, d.Severity, d.Message, d.Label}
		if seen[k] {
			return true
		}
		seen[k] = true
		return false
	})
}

// count returns the number of diagnostics of each severity.
func (l List) count() (errors, warnings, notes int) {
	for _, d := range l {
		switch d.Severity {
		case Error:
			errors++
		case Warning:
			warnings++
		default:
			notes++
		}
	}
	return
}

// summary returns text such as "2 errors, 1 warning", or "" for an empty list.
func (l List) summary() string {
	errors, warnings, notes := l.count()
	var parts []string
	for _, p := range [...]struct {
		n    int
		word string
	}{{errors, "error"}, {warnings, "warning"}, {notes, "note"}} {
		if p.n > 0 {
			parts = append(parts, text.Count(p.n, p.word))
		}
	}
	return strings.Join(parts, ", ")
}
