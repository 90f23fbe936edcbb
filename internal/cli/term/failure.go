package term

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agentscript/agentscript/diag"
)

// Failure ends the command: with a code, and with what is to be said. Nothing more is said
// when the list is empty.
type Failure struct {
	Code    int
	Found   diag.List
	Sources diag.Sources
}

// FailureOf returns the failure of what was found, nil when that is nothing.
func FailureOf(code int, found diag.List, sources diag.Sources) *Failure {
	if len(found) == 0 {
		return nil
	}
	return &Failure{Code: code, Found: found, Sources: sources}
}

func (f *Failure) Error() string { return f.Found.Error() }

// Usagef is a mistake in how the command was called. The help may be "".
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
