package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// FileName is the name of the project file.
const FileName = "agentscript.toml"

// find returns the path of the project file for a directory: in that directory or the nearest one above it, up
// to the root of the repository; "" if there is none.
func find(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		path := filepath.Join(dir, FileName)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		above := filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || above == dir {
			return ""
		}
		dir = above
	}
}

// longest bounds the size of a project file.
const longest = 1 << 20

// read parses the aliases of a project file. It supports only comments, tables and one-line strings of TOML;
// anything else is an error.
func read(path string) (map[string]string, *term.Failure) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > longest {
		err = errors.New("it is larger than 1 MiB")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		return nil, nil
	case err != nil:
		return nil, term.Usagef("", "%s: %s", path, term.FileProblem(err))
	case !utf8.Valid(data):
		return nil, term.Usagef("convert it to UTF-8 first", "%s: it is not UTF-8 text", path)
	}
	p := &parser{path: path, models: map[string]string{}}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		p.line++
		p.read(strings.TrimRight(line, "\r\n"))
	}
	return p.models, term.FailureOf(term.ExitUsage, p.found, diag.SourceMap{path: strings.TrimPrefix(string(data), "\ufeff")})
}

// parser reads a project file line by line.
type parser struct {
	path   string
	line   int
	table  string
	models map[string]string
	found  diag.List
}

func (p *parser) wrong(col int, help, format string, args ...any) {
	d := &diag.Diagnostic{Message: fmt.Sprintf(format, args...), Span: diag.Span{Pos: diag.Pos{File: p.path, Line: p.line, Col: col}, Len: 1}}
	if help != "" {
		d.Help = []string{help}
	}
	p.found.Add(d)
}

const (
	tableHelp = "a project file has the table [models], whose keys are aliases"
	entryHelp = `write name = "provider/model"`
)

func (p *parser) read(line string) {
	rest := strings.TrimLeft(line, " \t")
	col := 1 + utf8.RuneCountInString(line[:len(line)-len(rest)])
	switch {
	case rest == "" || rest[0] == '#':
	case rest[0] == '[':
		name, after, closed := strings.Cut(rest[1:], "]")
		if name = strings.TrimSpace(name); !closed || !ends(after) {
			p.wrong(col, tableHelp, "this is no table: [name] on a line of its own")
			p.table = "?"
			return
		}
		if p.table = name; name != "models" {
			p.wrong(col, tableHelp, "there is no table %q", name)
		}
	case p.table == "":
		p.wrong(col, tableHelp, "an entry stands in a table, and no [models] is above this one")
	case p.table == "models":
		p.entry(rest, col)
	}
}

// entry parses name = "text".
func (p *parser) entry(text string, col int) {
	key, rest := text, ""
	if text[0] == '"' || text[0] == '\'' {
		quoted, after, ok := quotedText(text)
		if !ok {
			p.wrong(col, entryHelp, "the name has no closing quote")
			return
		}
		key, rest = quoted, after
	} else if i := strings.IndexAny(text, "= \t"); i >= 0 {
		key, rest = text[:i], text[i:]
	}
	value, is := strings.CutPrefix(strings.TrimLeft(rest, " \t"), "=")
	if !is {
		p.wrong(col, entryHelp, "this is no entry")
		return
	}
	value = strings.TrimLeft(value, " \t")
	model, after, ok := quotedText(value)
	if !ok || !ends(after) {
		p.wrong(col+utf8.RuneCountInString(text[:len(text)-len(value)]), entryHelp, "a model is a text in quotes, on its line")
		return
	}
	if _, twice := p.models[key]; twice {
		p.wrong(col, "", "the alias %q is given twice", key)
	}
	if err := check(key, model); err != nil {
		p.wrong(col, entryHelp, "%s", err)
	}
	p.models[key] = model
}

// quotedText parses a quoted string: "with \" and \\", or 'literal'. TOML's other escapes are useless in
// names.
func quotedText(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return b.String(), s[i+1:], true
		case s[i] == '\\' && s[0] == '"':
			if i++; i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", s, false
			}
		}
		b.WriteByte(s[i])
	}
	return "", s, false
}

// ends reports whether only a comment follows.
func ends(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || s[0] == '#'
}
