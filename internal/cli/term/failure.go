package term

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agentscript/agentscript/diag"
)

// Failure ends the command with an exit code and diagnostics. If the list is empty, nothing more is reported.
type Failure struct {
	Code    int
	Found   diag.List
	Sources diag.Sources
}

// FailureOf returns the failure for the findings, or nil if there are none.
func FailureOf(code int, found diag.List, sources diag.Sources) *Failure {
	if len(found) == 0 {
		return nil
	}
	return &Failure{Code: code, Found: found, Sources: sources}
}

func (f *Failure) Error() string { return f.Found.Error() }

// Usagef returns the failure for a mistake in how the command was called. The help may be "".
func Usagef(help, format string, args ...any) *Failure {
	d := &diag.Diagnostic{Message: fmt.Sprintf(format, args...)}
	if help != "" {
		d.Help = []string{help}
	}
	return &Failure{Code: ExitUsage, Found: diag.List{d}}
}

// FileProblem says why a file cannot be read, without the operation's name.
func FileProblem(err error) string {
	p, ok := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case ok:
		return p.Err.Error()
	}
	return err.Error()
}
