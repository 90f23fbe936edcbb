package repl

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reeflective/readline"

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
		if c.text == text.Terminal(c.text) { // a file may have any name
			pairs = append(pairs, c.text, text.Terminal(c.doc))
		}
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
	c := s.ws.Complete(context.Background(), before, len(before))
	for _, item := range c.Items {
		all = append(all, candidate{item.Insert, item.Doc})
	}
	return all, before[c.From:]
}

// wordStart is where the name begins that a text ends with.
func wordStart(s string) int {
	return strings.LastIndexFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) + 1
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
