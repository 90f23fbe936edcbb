package repl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reeflective/readline"
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// candidate is what can be written at the cursor.
type candidate struct {
	text string
	doc  string // one line
}

// completions are candidates as the line editor shows them.
func completions(all []candidate, prefix string) readline.Completions {
	var pairs []string
	for _, c := range all {
		pairs = append(pairs, c.text, c.doc)
	}
	done := readline.CompleteValuesDescribed(pairs...).NoSpace('(', '.', '=', '/', '"').NoSort()
	done.PREFIX = prefix
	return done
}

// complete returns what can be written behind a text, and the part of its last word that candidates begin with.
func (s *session) complete(before string) (all []candidate, prefix string) {
	defer func() {
		all = slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.text, prefix) })
		slices.SortStableFunc(all, func(a, b candidate) int { return strings.Compare(a.text, b.text) })
		all = slices.CompactFunc(all, func(a, b candidate) bool { return a.text == b.text })
	}()
	if trimmed := strings.TrimLeft(before, " "); strings.HasPrefix(trimmed, ":") || strings.HasPrefix(trimmed, "?") {
		return s.completeCommand(trimmed)
	}
	word := before[wordStart(before):]
	rest := before[:len(before)-len(word)]
	if object, ok := strings.CutSuffix(rest, "."); ok {
		return s.members(object[wordStart(object):]), word
	}
	if quoted, ok := openQuote(before); ok {
		return s.inQuotes(before[:len(before)-len(quoted)-1], quoted)
	}
	if name, open := openCall(rest); open {
		all = s.arguments(name)
	}
	return append(all, s.globals()...), word
}

// wordStart is where the name begins that a text ends with.
func wordStart(s string) int {
	return strings.LastIndexFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) + 1
}

// openQuote returns what stands behind the quote that is open at the end of a text.
func openQuote(s string) (string, bool) {
	quote, at := byte(0), 0
	for i := 0; i < len(s); i++ {
		switch {
		case quote != 0 && s[i] == '\\':
			i++
		case quote != 0 && s[i] == quote:
			quote = 0
		case quote == 0 && (s[i] == '"' || s[i] == '\''):
			quote, at = s[i], i+1
		}
	}
	if quote == 0 {
		return "", false
	}
	return s[at:], true
}

// openCall returns the name that is called by the innermost parenthesis that is open at the end of a text.
func openCall(s string) (string, bool) {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth > 0 {
				depth--
				continue
			}
			if s[i] != '(' {
				return "", false
			}
			name := s[:i]
			for start := len(name); ; start-- {
				if start == 0 || name[start-1] != '.' && wordStart(name[:start]) == start {
					return name[start:], name[start:] != ""
				}
			}
		}
	}
	return "", false
}

// globals are the names of the session and of the language.
func (s *session) globals() (all []candidate) {
	m := s.ws.Module()
	for _, name := range m.Names() {
		all = append(all, candidate{name, s.brief(name)})
	}
	for _, b := range starlib.Universe().Rows() {
		if b.Of == "" {
			all = append(all, candidate{b.Name, b.Summary()})
		}
	}
	for _, word := range strings.Fields("True False None def if elif else for in while return and or not lambda load") {
		all = append(all, candidate{word, ""})
	}
	return all
}

// brief is one line about a name of the session.
func (s *session) brief(name string) string {
	m := s.ws.Module()
	if n := m.Node(name); n != nil {
		return n.Kind().String() + ": " + n.In().String() + " → " + n.Out().String()
	}
	if f, err := m.Flow(name); err == nil && f.Doc != "" {
		first, _, _ := strings.Cut(f.Doc, "\n")
		return first
	}
	typ, shown, _, _ := m.Describe(name)
	return text.Clip(strings.ReplaceAll(typ+" "+shown, "\n", " "), 60)
}

// members are the fields and methods of what a name holds.
func (s *session) members(object string) (all []candidate) {
	m := s.ws.Module()
	of := ""
	if v, ok := m.Value(object); ok {
		if r, ok := v.AsRecord(); ok {
			return fields(r.Type().Fields)
		}
	}
	if t := m.Type(object); t != nil {
		for _, variant := range t.Variants {
			all = append(all, candidate{variant.Name, ""})
		}
		of = "type"
	} else if m.Node(object) != nil {
		of = "node"
	} else if typ, _, _, _ := m.Describe(object); typ != "" {
		of = strings.Replace(typ, "string", "str", 1)
	}
	for _, b := range starlib.Universe().Rows() {
		if b.Of != "" && (b.Of == of || b.Of == object) {
			all = append(all, candidate{b.Name, b.Summary()})
		}
	}
	return append(all, interpreterMethods(of)...)
}

// interpreterMethods are the methods of the values of the interpreter.
func interpreterMethods(of string) (all []candidate) {
	values := map[string]starlark.HasAttrs{"str": starlark.String(""), "list": starlark.NewList(nil), "dict": starlark.NewDict(0), "set": starlark.NewSet(0)}
	if v := values[of]; v != nil {
		for _, name := range v.AttrNames() {
			all = append(all, candidate{name, ""})
		}
	}
	return all
}

func fields(of []generable.Field) (all []candidate) {
	for _, f := range of {
		doc := f.Type.String()
		if f.Guide != "" {
			doc += ", " + f.Guide
		}
		all = append(all, candidate{f.Name, doc})
	}
	return all
}

// arguments are the keyword arguments of what a name calls.
func (s *session) arguments(name string) (all []candidate) {
	m := s.ws.Module()
	if t := m.Type(name); t != nil {
		all = fields(t.Fields)
	} else if f, err := m.Flow(name); err == nil && m.Node(name) == nil {
		all = fields(f.Params.Fields)
	} else if b, ok := starlib.Universe().Lookup(name); ok {
		for i := range b.Params {
			if p := &b.Params[i]; p.Shape != starlib.Variadic {
				first, _, _ := strings.Cut(p.Doc, ";")
				all = append(all, candidate{p.Name, first})
			}
		}
	}
	for i := range all {
		all[i].text += " = "
	}
	return all
}

// inQuotes are the strings of enums that an argument may have, and files.
func (s *session) inQuotes(before, typed string) ([]candidate, string) {
	var all []candidate
	name, _ := openCall(before)
	keyword := strings.TrimRight(before, " ")
	keyword = strings.TrimRight(strings.TrimSuffix(keyword, "="), " ")
	keyword = keyword[wordStart(keyword):]
	if t := s.ws.Module().Type(name); t != nil {
		for _, f := range t.Fields {
			if f.Name == keyword {
				all = append(all, words(f.Type)...)
			}
		}
	}
	if f, err := s.ws.Module().Flow(name); err == nil {
		for _, p := range f.Params.Fields {
			if p.Name == keyword || len(f.Params.Fields) == 1 {
				all = append(all, words(p.Type)...)
			}
		}
	}
	if len(all) > 0 {
		return all, typed
	}
	return files(filepath.Dir(s.file), typed), typed
}

// words are the strings of an enum.
func words(t *generable.Type) (all []candidate) {
	for _, v := range t.Deref().Values {
		all = append(all, candidate{v, ""})
	}
	return all
}

// files are those below a directory that a path may mean.
func files(root, typed string) (all []candidate) {
	dir, _ := filepath.Split(typed)
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := dir + e.Name()
		if e.IsDir() {
			name += "/"
		}
		if !strings.HasPrefix(e.Name(), ".") {
			all = append(all, candidate{name, ""})
		}
	}
	return all
}

// completeCommand completes a command, and what it takes.
func (s *session) completeCommand(before string) (all []candidate, prefix string) {
	name, rest, has := strings.Cut(before, " ")
	if !has {
		if strings.HasPrefix(before, "?") {
			word := strings.TrimLeft(before, "?")
			return s.globals(), word
		}
		for _, c := range commands() {
			all = append(all, candidate{c.name(), c.doc})
		}
		return all, name
	}
	switch name {
	case ":load", ":save", ":save-test":
		return files(".", rest), rest
	case ":graph", ":run", ":cost":
		for _, known := range s.ws.Module().Names() {
			if _, err := s.ws.Module().Flow(known); err == nil {
				all = append(all, candidate{known, s.brief(known)})
			}
		}
		return all, rest
	case ":mock", ":trace":
		return []candidate{{"on", ""}, {"off", ""}}, rest
	case ":budget":
		for limit, flag := range budgetFlags {
			all = append(all, candidate{limit + "=", s.own.Lookup(flag).Usage})
		}
		return all, rest[strings.LastIndex(rest, " ")+1:]
	}
	word := rest[wordStart(rest):]
	return s.globals(), word
}
