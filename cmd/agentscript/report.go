package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/agentscript/agentscript/diag"
)

// failure ends the command: with a code, and with what is to be said. Nothing more is said
// when the list is empty.
type failure struct {
	code    int
	found   diag.List
	sources diag.Sources
}

func (f *failure) Error() string { return f.found.Error() }

// usagef is a mistake in how the command was called. The help may be "".
func usagef(help, format string, args ...any) *failure {
	d := &diag.Diagnostic{Message: fmt.Sprintf(format, args...)}
	if help != "" {
		d.Help = []string{help}
	}
	return &failure{code: exitUsage, found: diag.List{d}}
}

// kept takes what the library of verbs writes to stdout, such as help, and keeps the first error of
// writing it, which the library would drop or word itself.
type kept struct {
	w   io.Writer
	err error
}

func (k *kept) Write(b []byte) (int, error) {
	if k.err == nil {
		_, k.err = k.w.Write(b)
	}
	return len(b), nil
}

// report writes diagnostics to stderr: rendered, or as one JSON line when the verb was told
// to speak JSON. Writing to a stderr that is gone cannot be reported anywhere.
func (c *command) report(found diag.List, sources diag.Sources) {
	if len(found) == 0 {
		return
	}
	if c.json {
		_ = diag.JSON(c.jsonOut(), found)
		return
	}
	_ = diag.Render(c.stderr, found, sources, diag.Options{Color: c.color(), Width: c.width(), NoSummary: len(found) == 1})
}

// fileProblem says why a file cannot be read, without the operation's name.
func fileProblem(err error) string {
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
