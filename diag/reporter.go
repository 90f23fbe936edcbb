package diag

import (
	"fmt"
	"slices"
	"sync"
)

// A Reporter collects the diagnostics of one pass. The zero value is ready to use. Its methods may be
// called from several goroutines.
type Reporter struct {
	// OnReport, when set, is called with each diagnostic as it is reported, before the reporting code
	// adds its notes and help. It is called in the order of reports and must not report itself.
	OnReport func(*Diagnostic)

	mu       sync.Mutex
	list     List
	detached bool
}

// Report adds diagnostics.
func (r *Reporter) Report(ds ...*Diagnostic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, ds...)
	if r.OnReport != nil && !r.detached {
		for _, d := range ds {
			r.OnReport(d)
		}
	}
}

// Errorf reports an error and returns it, so that the caller can add notes and help.
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

// Diagnostics returns a copy of the list of all diagnostics reported so far, in the order of reports.
func (r *Reporter) Diagnostics() List {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// Detach ends the calls of OnReport; diagnostics are still collected.
func (r *Reporter) Detach() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detached = true
}

// Notef adds a fact from elsewhere. When at is valid, the rendered note ends in that position.
func (d *Diagnostic) Notef(at Pos, format string, args ...any) *Diagnostic {
	d.Notes = append(d.Notes, Note{Message: fmt.Sprintf(format, args...), Pos: at})
	return d
}

// Advise adds advice that there may be; "" is none.
func (d *Diagnostic) Advise(help string) *Diagnostic {
	if help != "" {
		d.Help = append(d.Help, help)
	}
	return d
}

// Helpf adds advice: what to do about the diagnostic. The best advice is added first.
func (d *Diagnostic) Helpf(format string, args ...any) *Diagnostic {
	d.Help = append(d.Help, fmt.Sprintf(format, args...))
	return d
}
