package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/cmd/agentscript/internal/starfmt"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// fmtOptions say what happens with a formatted text. With none it goes to stdout.
type fmtOptions struct{ list, diff, write, check bool }

func (o fmtOptions) none() bool { return o == fmtOptions{} }

func (c *command) fmtVerb() *cobra.Command {
	var o fmtOptions
	cmd := &cobra.Command{
		Use:   "fmt [flags] FILE...",
		Short: "Format scripts",
		Long: `Fmt writes scripts in the one canonical form. Without flags the result goes to stdout.
FILE - formats stdin. An expression of more than 200 operators or calls that hang on each other
stays as it is written, and what check refuses is refused.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("usage: "+cmd.UseLine()+"; - is stdin", "fmt needs a FILE")
			}
			return c.format(cmd.Context(), args, o)
		},
	}
	cmd.Flags().BoolVarP(&o.list, "list", "l", false, "list the files whose formatting differs")
	cmd.Flags().BoolVarP(&o.diff, "diff", "d", false, "show the changes")
	cmd.Flags().BoolVarP(&o.write, "write", "w", false, "write the result back to the file")
	cmd.Flags().BoolVar(&o.check, "check", false, "list the files whose formatting differs, with exit code 3 if there are any")
	return cmd
}

func (c *command) format(ctx context.Context, files []string, o fmtOptions) error {
	code := exitOK
	for _, file := range files {
		differs, err := c.formatFile(ctx, file, o)
		var f *failure
		switch {
		case errors.As(err, &f): // the other files are done all the same
			c.report(f.found, f.sources)
			code = max(code, f.code)
		case err != nil:
			return err
		case differs && o.check:
			code = max(code, exitCheck)
		}
	}
	return c.quietly(code)
}

func (c *command) formatFile(ctx context.Context, file string, o fmtOptions) (differs bool, err error) {
	src, err := c.script(file, o)
	if err != nil {
		return false, err
	}
	out, err := starfmt.Format(src)
	if err != nil {
		return false, unformatted(ctx, file, src, err)
	}
	differs = !bytes.Equal(src, out)
	if o.none() {
		return differs, c.raw(out)
	}
	if !differs {
		return false, nil
	}
	if o.list || o.check {
		if err := c.print(file); err != nil {
			return true, err
		}
	}
	if o.diff {
		if err := c.raw(diff.Diff(file+".orig", src, file, out)); err != nil {
			return true, err
		}
	}
	if o.write {
		if err := rewriteFile(file, src, out); err != nil {
			return true, usagef("", "%s: %s", file, fileProblem(err))
		}
	}
	return true, nil
}

func (c *command) script(file string, o fmtOptions) ([]byte, error) {
	if file == "-" {
		if o.write {
			return nil, usagef("", "stdin cannot be written back: leave out -w")
		}
		src, err := io.ReadAll(c.stdin)
		if err != nil {
			return nil, usagef("", "stdin: %s", fileProblem(err))
		}
		return src, nil
	}
	if f := readable(file); f != nil {
		return nil, f
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("", "%s: %s", file, fileProblem(err))
	}
	return src, nil
}

// unformatted shows why a script cannot be formatted. It is checked for that, which recognises
// what other languages write.
func unformatted(ctx context.Context, file string, src []byte, err error) error {
	var at *starfmt.Error
	if !errors.As(err, &at) {
		return err
	}
	name, dir := filepath.Base(file), filepath.Dir(file)
	if file == "-" {
		name = "stdin"
	}
	if at.Line > 0 { // it does not parse, so that nothing of it is executed
		m, found := starlib.Load(ctx, starlib.Options{FS: os.DirFS(dir), Entry: name, Dir: shownDir(file), Source: src})
		if found.HasErrors() {
			return &failure{code: exitCheck, found: found, sources: m.Sources()}
		}
	}
	if file != "-" {
		name = file
	}
	d := &diag.Diagnostic{Code: diag.SyntaxError, Message: at.Msg, Span: diag.Span{Pos: diag.Pos{File: name, Line: at.Line, Col: at.Col}}}
	return &failure{code: exitCheck, found: diag.List{d}, sources: diag.SourceMap{name: string(src)}}
}

// shownDir is what stands before a file's name in its positions.
func shownDir(file string) string {
	dir, _ := filepath.Split(file)
	return filepath.ToSlash(dir)
}

// raw writes a result to stdout as it is.
func (c *command) raw(text []byte) error {
	if _, err := c.stdout.Write(text); err != nil {
		return c.unwritten(err)
	}
	return nil
}
