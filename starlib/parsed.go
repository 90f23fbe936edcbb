package starlib

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"sync"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// Parsed keeps parsed files, so that a script that is loaded more than once, for example first for its parameters, is
// parsed once. Loads that share it must follow each other: no module of an earlier load may still run when the next
// load begins.
type Parsed struct {
	mu    sync.Mutex
	files *parsedFiles
}

// NewParsed returns an empty Parsed.
func NewParsed() *Parsed { return &Parsed{files: newParsedFiles()} }

// Count returns how often a file was parsed.
func (p *Parsed) Count() int { return p.held().parses }

// Abandon leaves the files to a load that was abandoned and may still be working on them: later loads parse theirs
// again.
func (p *Parsed) Abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = newParsedFiles()
}

func (p *Parsed) held() *parsedFiles {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files
}

// parsedFiles are the files of loads that follow each other.
type parsedFiles struct {
	byName map[string]*parsedFile // by name in positions
	parses int
}

func newParsedFiles() *parsedFiles { return &parsedFiles{byName: map[string]*parsedFile{}} }

// parsedFile is a file with the results of its syntax checks.
type parsedFile struct {
	text   []byte
	tree   *source.File // nil after a syntax error
	found  diag.List
	linted diag.List
	names  *source.Names // the names it was checked with; nil before the check
}

// file parses a file, unless it is held with the same text.
func (p *parsedFiles) file(name string, text []byte, stop func() bool) *parsedFile {
	if f := p.byName[name]; f != nil && bytes.Equal(f.text, text) {
		return f
	}
	p.parses++
	f := &parsedFile{text: text}
	if f.tree, f.found = source.Parse(name, text, stop); stop == nil || !stop() {
		p.byName[name] = f
	}
	return f
}

// lint checks the syntax of a file. Resolving changes the tree afterwards, so a file that was checked with other names
// is parsed again.
func (p *parsedFiles) lint(name string, f *parsedFile, n source.Names, stop func() bool) (*parsedFile, diag.List) {
	if f.names != nil && !reflect.DeepEqual(*f.names, n) {
		delete(p.byName, name)
		f = p.file(name, f.text, stop)
	}
	if f.names == nil && f.tree != nil {
		f.names, f.linted = &n, f.tree.Lint(n, stop)
	}
	if stop != nil && stop() {
		delete(p.byName, name) // the check did not reach the end
	}
	return f, copied(f.linted)
}

// copied returns a deep copy of a list of diagnostics, since a load adds notes to them.
func copied(l diag.List) diag.List {
	out := make(diag.List, len(l))
	for i, d := range l {
		own := *d
		own.Notes, own.Help = slices.Clone(d.Notes), slices.Clone(d.Help)
		out[i] = &own
	}
	return out
}

// Params returns the names of the parameters of a function in the text of a file, without executing it. It returns none
// if the file has no such function or cannot be parsed, or once ctx has ended.
func (p *Parsed) Params(ctx context.Context, file string, text []byte, function string) []string {
	f := p.held().file(file, bytes.TrimPrefix(text, byteOrderMark), func() bool { return ctx.Err() != nil })
	if f.tree == nil {
		return nil
	}
	var names []string
	for _, stmt := range f.tree.Syntax().Stmts {
		def, ok := stmt.(*syntax.DefStmt)
		if !ok || def.Name.Name != function {
			continue
		}
		for _, p := range def.Params {
			if a := startree.ArgOf(p); a.Spread == 0 {
				names = append(names, startree.ParamName(p).Name)
			}
		}
	}
	return names
}
