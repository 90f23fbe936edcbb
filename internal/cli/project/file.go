package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

// FileName is the name of the project file.
const FileName = "agentscript.toml"

// Find returns the path of the project file for a directory: in that directory or the nearest one above it, up
// to the root of the repository, or "".
func Find(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		path := filepath.Join(dir, FileName)
		if holds(dir, FileName) { // including what is not a regular file: rules must not be dropped silently
			return path
		}
		above := filepath.Dir(dir)
		if holds(dir, ".git") || above == dir {
			return ""
		}
		dir = above
	}
}

// Above returns the path of the next project file above one, up to the root of the repository, or "".
func Above(file string) string {
	dir := filepath.Dir(file)
	if holds(dir, ".git") || filepath.Dir(dir) == dir {
		return ""
	}
	return Find(filepath.Dir(dir))
}

// longest bounds the size of a project file.
const longest = 64 << 10

// file is a project file: its values, and their positions.
type file struct {
	path   string
	text   string
	values map[string]any
	at     map[string]diag.Span // by the path of names to a table, a key or an item of a list
	found  diag.List
	own    map[string]Setting // the values it sets, by table and key
	rules  map[string][]rule
	models map[string]Setting
}

// rule is a pattern of [policy], with its position.
type rule struct {
	text string
	at   diag.Span
}

// read reads a project file. Everything wrong with it is reported at once.
func read(path string) (*file, *term.Failure) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		return nil, term.Usagef("a project file is a file: move what has its name", "%s: it is a directory, a pipe or a device", path)
	case info.Size() > longest:
		err = errors.New("it is larger than 64 KiB")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && !holds(filepath.Dir(path), FileName): // removed in the meantime
		return &file{}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, term.Usagef("fix the link, or remove it", "%s: it is a link, and leads to no file", path)
	case err != nil:
		return nil, term.Usagef("", "%s: %s", path, term.FileProblem(err))
	case !utf8.Valid(data):
		return nil, term.Usagef("convert it to UTF-8 first", "%s: it is not UTF-8 text", path)
	}
	f := readText(path, string(data))
	return f, term.FailureOf(term.ExitUsage, f.found, diag.SourceMap{path: f.text})
}

// readText reads the text of a project file.
func readText(path, text string) *file {
	f := &file{path: path, text: strings.TrimPrefix(text, "\ufeff"), at: map[string]diag.Span{}, own: map[string]Setting{}, rules: map[string][]rule{}, models: map[string]Setting{}}
	f.parse()
	for _, table := range f.inOrder(nil, f.values) {
		f.table(table)
	}
	for _, m := range f.aliases() {
		if _, chained := f.models[m.Text]; chained {
			f.wrong(m.at, "name the model itself", "the alias %q means %q, which is an alias too", m.Key, m.Text)
		}
	}
	f.found.Sort()
	return f
}

// aliases lists the aliases by name.
func (f *file) aliases() []Setting {
	return text.Each(slices.Sorted(maps.Keys(f.models)), func(name string) Setting { return f.models[name] })
}

// bareText matches what follows a "=" if the quotes are missing.
var bareText = lazy.Regexp(`^[^\s"'#\[{][^\r\n"'#,\]}]*`)

// parse reads the values, and then the positions of all names.
func (f *file) parse() {
	err := toml.Unmarshal([]byte(f.text), &f.values)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, col := wrong.Position()
		at := f.offset(line, col)
		first := strings.HasSuffix(strings.TrimRight(f.text[:at], " \t"), "=")
		switch bare := bareText().FindString(f.text[at:]); {
		case first && bare != "":
			f.wrong(f.spanOf(at, len(bare)), "put it in quotes", "a text is written in quotes")
		case first && strings.Trim(f.text[at:min(at+1, len(f.text))], "\r\n#") == "":
			f.wrong(f.spanOf(at, 1), "write it after the =, or remove the line", "a value is missing")
		default:
			f.wrong(f.spanOf(at, 1), "", "%s", strings.TrimPrefix(wrong.Error(), "toml: "))
		}
		f.values = nil
		return
	}
	if err != nil {
		f.wrong(diag.Span{Pos: diag.Pos{File: f.path}}, "", "%s", strings.TrimPrefix(err.Error(), "toml: "))
		f.values = nil
		return
	}
	var p unstable.Parser
	p.Reset([]byte(f.text))
	var table []string
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = f.locate(nil, e.Key())
		case unstable.KeyValue:
			f.entry(table, e)
		}
	}
}

// entry records the position of an entry, and of the parts of its value.
func (f *file) entry(table []string, e *unstable.Node) {
	at := f.locate(table, e.Key())
	switch v := e.Value(); v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			f.entry(at, it.Node())
		}
	case unstable.Array:
		for it, i := v.Children(), 0; it.Next(); i++ {
			if raw := it.Node().Raw; raw.Length > 0 {
				f.at[path(append(at, fmt.Sprint(i))...)] = f.spanOf(int(raw.Offset), int(raw.Length))
			}
		}
	}
}

// locate records the positions of the names of a key below the names above, and returns all of them.
func (f *file) locate(above []string, it unstable.Iterator) []string {
	names := slices.Clone(above)
	for it.Next() {
		n := it.Node()
		names = append(names, string(n.Data))
		if at := path(names...); f.at[at] == (diag.Span{}) {
			f.at[at] = f.spanOf(int(n.Raw.Offset), int(n.Raw.Length))
		}
	}
	return names
}

// path joins names with a separator that no name contains.
func path(names ...string) string { return strings.Join(names, "\x00") }

// offset returns the offset of a line and a column in bytes.
func (f *file) offset(line, col int) int {
	at := 0
	for range line - 1 {
		at += strings.IndexByte(f.text[at:], '\n') + 1
	}
	return min(at+max(col-1, 0), len(f.text))
}

// spanOf returns a span in the text, with columns in code points.
func (f *file) spanOf(offset, length int) diag.Span {
	before := f.text[:offset]
	line := strings.LastIndexByte(before, '\n') + 1
	end := min(offset+length, len(f.text))
	return diag.Span{Pos: diag.Pos{File: f.path, Line: strings.Count(before, "\n") + 1, Col: utf8.RuneCountInString(before[line:]) + 1},
		Len: max(utf8.RuneCountInString(f.text[offset:end]), 1)}
}

func (f *file) wrong(at diag.Span, help, format string, args ...any) {
	d := &diag.Diagnostic{Message: fmt.Sprintf(format, args...), Span: at}
	if help != "" {
		d.Help = []string{help}
	}
	f.found.Add(d)
}

// inOrder lists the names of a table as they are in the file.
func (f *file) inOrder(above []string, names map[string]any) []string {
	return slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		x, y := f.at[path(append(above, a)...)], f.at[path(append(above, b)...)]
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col), cmp.Compare(a, b))
	})
}

// table reads a table.
func (f *file) table(name string) {
	at := f.at[name]
	all := "a project file has the tables [" + strings.Join(tables, "], [") + "]"
	entries, is := f.values[name].(map[string]any)
	known := slices.Contains(tables, name)
	switch {
	case !known && whyNever(name) != "":
		f.hide(f.values[name])
		f.wrong(at, "", "there is no table or key %q: %s", name, whyNever(name))
	case !known && is:
		f.wrong(at, cmp.Or(diag.DidYouMean(name, tables), all), "there is no table %q", name)
	case !known:
		help := all
		for _, k := range keys {
			if k.name == strings.ReplaceAll(name, "_", "-") {
				help = fmt.Sprintf("write it below [%s]", k.table)
				break
			}
		}
		f.wrong(at, help, "the key %q is in no table", name)
	case !is:
		f.wrong(at, fmt.Sprintf("write [%s] on its own line, and its keys below", name), "%s is a table, not %s", name, named(f.values[name]))
	default:
		for _, entry := range f.inOrder([]string{name}, entries) {
			f.set(name, entry, entries[entry])
		}
	}
}

// hide keeps the texts of a value out of messages, since they may be keys.
func (f *file) hide(v any) {
	switch v := v.(type) {
	case string:
		if len(v) >= 8 {
			f.text = strings.ReplaceAll(f.text, v, strings.Map(func(r rune) rune {
				if r == '\n' {
					return r
				}
				return '*'
			}, v))
		}
	case []any:
		for _, item := range v {
			f.hide(item)
		}
	case map[string]any:
		for _, item := range v {
			f.hide(item)
		}
	}
}

// set reads an entry of a table.
func (f *file) set(table, name string, v any) {
	at := f.at[path(table, name)]
	if table == Models {
		f.model(name, v, at)
		return
	}
	k := keyOf(table, name)
	switch {
	case k == nil && table == Policy && name == "allow":
		f.wrong(at, "the rules of a project file only make policy stricter: ask, deny", "there is no key \"allow\" in [policy]")
	case k == nil && whyNever(name) != "":
		f.hide(v)
		f.wrong(at, "", "there is no key %q in [%s]: %s", name, table, whyNever(name))
	case k == nil:
		f.wrong(at, helpFor(table, name), "there is no key %q in [%s]", name, table)
	case k.kind == rules:
		f.policy(k, v, at)
	default:
		value, wrong := k.text(v)
		if wrong != "" {
			f.wrong(at, "", "%s", wrong)
			return
		}
		f.own[path(table, name)] = Setting{Table: table, Key: name, Value: k.value(value), Text: value, From: at.Pos.String(), at: at}
	}
}

// model reads an alias.
func (f *file) model(name string, v any, at diag.Span) {
	model, is := v.(string)
	help := `write name = "provider/model"`
	if !is {
		f.wrong(at, help, "an alias is for a model in quotes, not %s", named(v))
		return
	}
	if err := check(name, model); err != nil {
		f.wrong(at, help, "%s", err)
		return
	}
	f.models[name] = Setting{Table: Models, Key: name, Value: model, Text: model, From: at.Pos.String(), at: at}
}

// policy reads a list of rules.
func (f *file) policy(k *key, v any, at diag.Span) {
	list, is := v.([]any)
	if !is {
		f.wrong(at, "", "%s is %s, not %s", k.name, k.kind, named(v))
		return
	}
	for i, item := range list {
		here := f.at[path(k.table, k.name, fmt.Sprint(i))].Or(at)
		pattern, is := item.(string)
		if !is {
			f.wrong(here, "", "%s is %s, and has %s in it", k.name, k.kind, named(item))
			continue
		}
		if problem, help := wrongRule(pattern); problem != "" {
			f.wrong(here, help, "%s", problem)
			continue
		}
		f.rules[k.name] = append(f.rules[k.name], rule{pattern, here})
	}
	patterns := text.Each(f.rules[k.name], func(r rule) string { return r.text })
	f.own[path(k.table, k.name)] = Setting{Table: k.table, Key: k.name, Value: patterns, Text: strings.Join(patterns, ", "), From: at.Pos.String()}
}
