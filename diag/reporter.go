package diag

import (
	"fmt"
	"slices"
	"sync"
)

// MostAlike bounds the diagnostics with one code that a [Reporter] keeps for a file: nobody fixes more before checking
// again.
const MostAlike = 100

// A Reporter collects the diagnostics of one pass, at most [MostAlike] with each code in a file. The zero value is
// ready to use. Its methods may be called from several goroutines.
type Reporter struct {
	// OnReport, when set, is called with each diagnostic as it is reported, before the reporting code
	// adds its notes and help. It is called in the order of reports and must not report itself.
	OnReport func(*Diagnostic)

	mu       sync.Mutex
	list     List
	detached bool
	alike    map[likeness]*tally
}

// likeness is what diagnostics that are counted together have in common.
type likeness struct {
	file     string
	code     Code
	severity Severity
}

// tally counts diagnostics of one likeness.
type tally struct {
	n    int
	last *Diagnostic // the last one kept
}

// Report adds diagnostics. Those beyond [MostAlike] of their likeness are counted.
func (r *Reporter) Report(ds ...*Diagnostic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range ds {
		if !r.room(d) {
			continue
		}
		r.list = append(r.list, d)
		if r.OnReport != nil && !r.detached {
			r.OnReport(d)
		}
	}
}

// room counts a diagnostic and reports whether to keep it.
func (r *Reporter) room(d *Diagnostic) bool {
	if r.alike == nil {
		r.alike = map[likeness]*tally{}
	}
	k := likeness{d.Span.File, d.Code, d.Severity}
	t := r.alike[k]
	if t == nil {
		t = &tally{}
		r.alike[k] = t
	}
	if t.n++; t.n > MostAlike {
		return false
	}
	t.last = d
	return true
}

// Full reports whether further diagnostics like d are dropped, so that their details need not be determined.
func (r *Reporter) Full(d *Diagnostic) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.alike[likeness{d.Span.File, d.Code, d.Severity}]
	return t != nil && t.n >= MostAlike
}

// Errorf reports an error and returns it, so that the caller can add notes and help.
//
//go:noinline
func (r *Reporter) Errorf(code Code, at Span, format string, args ...any) *Diagnostic {
	return r.reportf(Error, code, at, format, args)
}

// Warnf reports a warning and returns it, so that the caller can add notes and help.
func (r *Reporter) Warnf(code Code, at Span, format string, args ...any) *Diagnostic {
	return r.reportf(Warning, code, at, format, args)
}

func (r *Reporter) reportf(s Severity, code Code, at Span, format string, args []any) *Diagnostic {
	d := &Diagnostic{Code: code, Severity: s, Span: at, Message: fmt.Sprintf(format, args...)}
	r.Report(d)
	return d
}

// Diagnostics returns a copy of the list of all diagnostics kept so far, in the order of reports.
func (r *Reporter) Diagnostics() List {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// Sum adds to the last diagnostic of each likeness how many were dropped after it. It is called once, at the end.
func (r *Reporter) Sum() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.alike {
		if t.n > MostAlike {
			t.last.Notes = append(t.last.Notes, Note{Message: fmt.Sprintf("and at least %d more like this one", t.n-MostAlike)})
		}
	}
	r.alike = nil
}

// Detach ends the calls of OnReport; diagnostics are still collected.
func (r *Reporter) Detach() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detached = true
}

// Notef adds a fact from elsewhere. When at is valid, the rendered note ends in that position.
//
//go:noinline
func (d *Diagnostic) Notef(at Pos, format string, args ...any) *Diagnostic {
	d.Notes = append(d.Notes, Note{Message: fmt.Sprintf(format, args...), Pos: at})
	return d
}

// Advise adds advice; "" adds nothing.
//
//go:noinline
func (d *Diagnostic) Advise(help string) *Diagnostic {
	if help != "" {
		d.Help = append(d.Help, help)
	}
	return d
}

// Helpf adds advice: what to do about the diagnostic. The best advice is added first.
//
//go:noinline
func (d *Diagnostic) Helpf(format string, args ...any) *Diagnostic {
	d.Help = append(d.Help, fmt.Sprintf(format, args...))
	return d
}
