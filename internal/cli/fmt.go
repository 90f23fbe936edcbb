package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/starfmt"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/starlib"
)

// fmtOptions set what happens with a formatted text. By default it goes to stdout.
type fmtOptions struct{ list, diff, write, check bool }

func fmtVerb(c *term.Console) *cobra.Command {
	var o fmtOptions
	cmd := &cobra.Command{
		Use:   "fmt [flags] FILE...",
		Short: "Format scripts",
		Long: `Fmt writes scripts in their one canonical form. Without flags, the result goes to stdout.
FILE - formats stdin. A script with syntax errors is refused, with the errors that check reports.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return term.Usagef("usage: "+cmd.UseLine()+"; - is stdin", "fmt needs a FILE")
			}
			return formatFiles(c, cmd.Context(), args, o)
		},
	}
	cmd.Flags().BoolVarP(&o.list, "list", "l", false, "list the files whose formatting differs")
	cmd.Flags().BoolVarP(&o.diff, "diff", "d", false, "show the changes")
	cmd.Flags().BoolVarP(&o.write, "write", "w", false, "write the result back to the file")
	cmd.Flags().BoolVar(&o.check, "check", false, "list the files whose formatting differs, and exit with code 3 if there are any")
	return cmd
}

func formatFiles(c *term.Console, ctx context.Context, files []string, o fmtOptions) error {
	code := term.ExitOK
	for _, file := range files {
		differs, err := formatFile(c, ctx, file, o)
		f, failed := errors.AsType[*term.Failure](err)
		switch {
		case failed: // continue with the other files
			c.Report(f.Found, f.Sources)
			code = max(code, f.Code)
		case err != nil:
			return err
		case differs && o.check:
			code = max(code, term.ExitCheck)
		}
	}
	return quietly(code)
}

func formatFile(c *term.Console, ctx context.Context, file string, o fmtOptions) (differs bool, err error) {
	src, err := formatted(c, file, o)
	if err != nil {
		return false, err
	}
	if flowjson.IsFlow(file, src) {
		return false, &term.Failure{Code: term.ExitUsage, Found: diag.List{{Code: diag.FlowNotScript, Span: diag.Span{Pos: diag.Pos{File: file}},
			Message: "this is a flow as JSON, and fmt formats scripts", Help: []string{"agentscript convert " + file + " writes it as a script"}}}}
	}
	out, err := starfmt.Format(src)
	if err != nil {
		return false, unformatted(ctx, file, src, err)
	}
	differs = !bytes.Equal(src, out)
	if o == (fmtOptions{}) {
		return differs, printRaw(c, out)
	}
	if !differs {
		return false, nil
	}
	if o.list || o.check {
		if err := c.Print(file); err != nil {
			return true, err
		}
	}
	if o.diff {
		if err := printRaw(c, diff.Diff(file+".orig", src, file, out)); err != nil {
			return true, err
		}
	}
	if o.write {
		if err := rewriteFile(file, src, out); err != nil {
			return true, term.Usagef("", "%s: %s", file, term.FileProblem(err))
		}
	}
	return true, nil
}

func formatted(c *term.Console, file string, o fmtOptions) ([]byte, error) {
	if file == "-" {
		if o.write {
			return nil, term.Usagef("", "stdin cannot be written back: leave out -w")
		}
		return setup.ReadSourceFrom(c.Stdin, "stdin")
	}
	return setup.ReadSource(file)
}

// unformatted reports why a script cannot be formatted. It checks the script, which recognises habits of other
// languages.
func unformatted(ctx context.Context, file string, src []byte, err error) error {
	at, ok := errors.AsType[*starfmt.Error](err)
	if !ok {
		return err
	}
	name := filepath.Base(file)
	if file == "-" {
		name = "stdin"
	}
	if at.Line > 0 { // it does not parse, so nothing of it is executed
		shown, _ := filepath.Split(file)
		m, found := starlib.Load(ctx, starlib.Options{FS: os.DirFS(filepath.Dir(file)), Entry: name, Dir: filepath.ToSlash(shown), Source: src})
		if found.HasErrors() {
			return &term.Failure{Code: term.ExitCheck, Found: found, Sources: m.Sources()}
		}
	}
	if file != "-" {
		name = file
	}
	d := &diag.Diagnostic{Code: diag.SyntaxError, Message: at.Msg, Span: diag.Span{Pos: diag.Pos{File: name, Line: at.Line, Col: at.Col}}}
	return &term.Failure{Code: term.ExitCheck, Found: diag.List{d}, Sources: diag.SourceMap{name: string(src)}}
}

// printRaw writes a result to stdout unchanged.
func printRaw(c *term.Console, text []byte) error {
	if _, err := c.Stdout.Write(text); err != nil {
		return c.Unwritten(err)
	}
	return nil
}

// rewritable is the interface to a file that is rewritten.
type rewritable interface {
	io.WriterAt
	Truncate(size int64) error
}

// rewrite replaces the text old in a file by new text. It overwrites the file and never truncates it first, so that on
// a full disk the old text can be restored, which needs no space.
func rewrite(f rewritable, old, new []byte) error {
	_, err := f.WriteAt(new, 0)
	if err == nil {
		err = f.Truncate(int64(len(new)))
	}
	if err != nil {
		_, _ = f.WriteAt(old, 0) // the first error is the one to report
		_ = f.Truncate(int64(len(old)))
	}
	return err
}

// rewriteFile does that with a file by name, which keeps its mode, its owner and its links.
func rewriteFile(name string, old, new []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return cmp.Or(rewrite(f, old, new), f.Close())
}
