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

// Parsed keeps files as they were parsed, so that a script that is loaded more than once, say to
// be asked for its parameters first, is parsed once. It is for loads one after the other: no module
// of an earlier load runs any more when the next begins.
type Parsed struct {
	mu    sync.Mutex
	files *parsedFiles
}

// NewParsed returns one that holds no file.
func NewParsed() *Parsed { return &Parsed{files: newParsedFiles()} }

// Count returns how often a file was parsed.
func (p *Parsed) Count() int { return p.held().parses }

// Abandon leaves the files to a load that was given up and may still be at work on them: loads to
// come parse theirs anew.
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

// parsedFiles are the files of one load after the other.
type parsedFiles struct {
	byName map[string]*parsedFile // by the name that positions carry
	parses int
}

func newParsedFiles() *parsedFiles { return &parsedFiles{byName: map[string]*parsedFile{}} }

// parsedFile is a file with what its syntax shows.
type parsedFile struct {
	text   []byte
	tree   *source.File // nil on a syntax error
	found  diag.List
	linted diag.List
	names  *source.Names // that it was checked with; nil when it was not
}

// file parses a file, unless it is there and has the same text.
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

// lint checks the syntax of a file. Resolving changes the tree after that, so that one which was
// checked with other names is parsed again.
func (p *parsedFiles) lint(name string, f *parsedFile, n source.Names, stop func() bool) (*parsedFile, diag.List) {
	if f.names != nil && !reflect.DeepEqual(*f.names, n) {
		delete(p.byName, name)
		f = p.file(name, f.text, stop)
	}
	if f.names == nil && f.tree != nil {
		f.names, f.linted = &n, f.tree.Lint(n, stop)
	}
	if stop != nil && stop() {
		delete(p.byName, name) // it was not looked at to the end
	}
	return f, copied(f.linted)
}

// copied is a list of diagnostics of its own: a load adds notes to them.
func copied(l diag.List) diag.List {
	out := make(diag.List, len(l))
	for i, d := range l {
		own := *d
		own.Notes, own.Help = slices.Clone(d.Notes), slices.Clone(d.Help)
		out[i] = &own
	}
	return out
}

// Params returns the names of the parameters that the text of a file gives a function, without
// executing it; none when the file has no such function or cannot be read, or once ctx has ended.
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
