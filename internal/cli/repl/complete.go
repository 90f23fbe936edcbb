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
	return expressions(s, before)
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

// arguments returns what can be written behind the name of a command, and the part of what is typed that candidates
// begin with.
type arguments func(s *session, typed string) (all []candidate, prefix string)

// completeCommand completes a command, and what it takes.
func (s *session) completeCommand(before string) (all []candidate, prefix string) {
	if strings.HasPrefix(before, "?") {
		return s.globals(), strings.TrimLeft(before, "? ")
	}
	name, typed, has := strings.Cut(before, " ")
	for _, c := range commands() {
		switch {
		case c.do == nil:
		case !has:
			all = append(all, candidate{c.name, c.doc})
		case c.takes != nil && (c.name == name || c.over && c.name+"!" == name):
			return c.takes(s, typed)
		}
	}
	return all, name
}

// expressions are what an entry can begin with.
func expressions(s *session, typed string) (all []candidate, prefix string) {
	c := s.ws.Complete(context.Background(), typed, len(typed))
	for _, item := range c.Items {
		all = append(all, candidate{item.Insert, item.Doc})
	}
	return all, typed[c.From:]
}

// runnable are the nodes and functions.
func runnable(s *session, typed string) (all []candidate, prefix string) {
	for _, known := range s.ws.Module().Names() {
		if _, err := s.ws.Module().Flow(known); err == nil {
			all = append(all, candidate{known, s.brief(known)})
		}
	}
	return all, typed
}

func switches(_ *session, typed string) (all []candidate, prefix string) {
	return []candidate{{"on", ""}, {"off", ""}}, typed
}

// timed are the switches, and expressions.
func timed(s *session, typed string) (all []candidate, prefix string) {
	all, prefix = expressions(s, typed)
	if prefix == typed {
		all = append(all, candidate{"on", "show the time of each entry"}, candidate{"off", "show none"})
	}
	return all, prefix
}

func limits(s *session, typed string) (all []candidate, prefix string) {
	for limit, flag := range budgetFlags {
		all = append(all, candidate{limit + "=", s.own.Lookup(flag).Usage})
	}
	return all, typed[strings.LastIndex(typed, " ")+1:]
}

// files are those below the working directory that a path may mean.
func files(_ *session, typed string) (all []candidate, prefix string) {
	dir, _ := filepath.Split(typed)
	entries, err := os.ReadDir(filepath.Join(".", dir))
	if err != nil {
		return nil, typed
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		c := candidate{dir + e.Name(), "file"}
		if e.IsDir() {
			c = candidate{dir + e.Name() + "/", "directory"}
		} else if strings.HasSuffix(e.Name(), ".star") {
			c.doc = "script"
		}
		all = append(all, c)
	}
	return all, typed
}
