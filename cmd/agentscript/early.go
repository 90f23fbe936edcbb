package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// peek reads arguments that cannot be parsed yet, for what loading has to know: how long it may
// take, and how its errors are shown. Flags that the script seems to have are not looked at.
func peek(rest []string, script []string) (seen runOptions) {
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	set.Usage = func() {}
	set.ParseErrorsAllowlist.UnknownFlags = true
	seen.flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(script, f.Name) {
			set.AddFlag(f)
		}
	})
	_ = set.Parse(rest) // whatever it is, it is reported when the flags are parsed in earnest
	return seen
}

// mainParams guesses the flags of a script that is not loaded yet by the parameters of the
// def main in its file. Whatever keeps it from being read, loading tells.
func mainParams(file string) []string {
	if readable(file) != nil {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	dialect := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	tree, err := dialect.Parse(file, bytes.TrimPrefix(text, []byte("\ufeff")), 0)
	if err != nil {
		return nil
	}
	var names []string
	for _, stmt := range tree.Stmts {
		def, ok := stmt.(*syntax.DefStmt)
		if !ok || def.Name.Name != "main" {
			continue
		}
		for _, p := range def.Params {
			if b, ok := p.(*syntax.BinaryExpr); ok {
				p = b.X
			}
			if id, ok := p.(*syntax.Ident); ok {
				names = append(names, (&param{name: id.Name}).flag())
			}
		}
	}
	return names
}

// deadline is the context of a run that began some time ago.
func (o *runOptions) deadline(ctx context.Context, begun time.Time) (context.Context, context.CancelFunc) {
	if o.timeout <= 0 {
		return ctx, func() {}
	}
	late := engine.Errorf(engine.KindTimeout, diag.Timeout, "the run did not end within %s", o.timeout).
		WithHelp("allow more time with --timeout, or find the slow step in the events")
	return context.WithDeadlineCause(ctx, begun.Add(o.timeout), late)
}

// loadTime bounds loading by a --timeout, if there is one.
func loadTime(timeout time.Duration) []agentscript.Option {
	if timeout <= 0 {
		return nil
	}
	return []agentscript.Option{agentscript.WithLoadTimeout(timeout)}
}
