package term

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Failure ends the command: with a code, and with what is to be said. Nothing more is said
// when the list is empty.
type Failure struct {
	Code    int
	Found   diag.List
	Sources diag.Sources
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
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}

func HelpOf(err error) string {
	if e, ok := err.(*engine.Error); ok {
		return e.Help
	}
	return ""
}
