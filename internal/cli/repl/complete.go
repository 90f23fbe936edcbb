package repl

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reeflective/readline"

	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// candidate is what can be inserted at the cursor.
type candidate struct {
	text string
	doc  string // one line
}

// menu returns candidates in the form that the line editor lists. The editor counts the bytes of their common prefix as
// characters and, if the prefix is "", takes everything after the last blank for it. So candidates begin with the ASCII
// tail of the prefix, or with one character, of which the editor is given one byte.
func menu(all []candidate, before, prefix string) readline.Completions {
	from := len(prefix) - len(asciiTail(prefix))
	shared := prefix[from:]
	head := ""
	if shared == "" && before != "" {
		_, size := utf8.DecodeLastRuneInString(before)
		head = before[len(before)-size:]
		shared = head[:1]
	}
	var values []readline.Completion
	for _, c := range all {
		values = append(values, readline.Completion{Value: head + c.text[from:], Display: c.text, Description: c.doc})
	}
	done := readline.CompleteRaw(values).NoSort().DisplayList()
	done.PREFIX = shared
	return done
}

// asciiTail returns the part of a text after its last multi-byte character.
func asciiTail(s string) string {
	i := strings.LastIndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
	if i < 0 {
		return s
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return s[i+size:]
}

// common returns the common prefix of all candidates.
func common(all []candidate) string {
	if len(all) == 0 {
		return ""
	}
	shared := all[0].text
	for _, c := range all[1:] {
		for !strings.HasPrefix(c.text, shared) {
			_, size := utf8.DecodeLastRuneInString(shared)
			shared = shared[:len(shared)-size]
		}
	}
	return shared
}

// longestCompletion bounds how long candidates are searched for: a person is waiting at the keyboard.
const longestCompletion = 200 * time.Millisecond

// complete returns what can be inserted at an offset of a line, and the part before it that candidates begin with.
func (s *session) complete(line string, cursor int) (all []candidate, prefix string) {
	before := line[:cursor]
	if trimmed := strings.TrimLeft(before, " "); isCommand(trimmed) {
		all, prefix = s.completeCommand(trimmed)
	} else {
		all, prefix = s.completeText(line, cursor)
	}
	all = slices.DeleteFunc(all, func(c candidate) bool {
		return !strings.HasPrefix(c.text, prefix) || c.text != text.Terminal(c.text) // a file may have any name
	})
	for i := range all {
		all[i].doc = text.Terminal(strings.ReplaceAll(all[i].doc, "\n", " "))
	}
	return all, prefix
}

// completeText completes statements, or an expression. If kinds are given, it accepts only candidates of those kinds.
func (s *session) completeText(text string, cursor int, kinds ...string) (all []candidate, prefix string) {
	ctx, cancel := context.WithTimeout(context.Background(), longestCompletion)
	defer cancel()
	c := s.ws.Complete(ctx, text, cursor)
	for _, item := range c.Items {
		if len(kinds) == 0 || slices.Contains(kinds, item.Kind) {
			all = append(all, candidate{item.Insert, item.Doc})
		}
	}
	return all, text[c.From:cursor]
}

// arguments returns what can follow the name of a command, and the part of the typed text that candidates begin with.
type arguments func(s *session, typed string) (all []candidate, prefix string)

// completeCommand completes a command, and its argument.
func (s *session) completeCommand(before string) (all []candidate, prefix string) {
	if name := strings.TrimLeft(before, "? "); strings.HasPrefix(before, "?") {
		return s.completeText(name, len(name), "variable", "function", "builtin", "type", "node", "module", "field", "method")
	}
	name, typed, has := strings.Cut(before, " ")
	for _, c := range commands() {
		switch {
		case c.do == nil:
		case !has:
			text := c.name
			if c.takes != nil && !strings.HasPrefix(c.args, "[") { // its argument follows
				text += " "
			}
			all = append(all, candidate{text, c.doc})
		case c.takes != nil && (c.name == name || c.over && c.name+"!" == name):
			return c.takes(s, strings.TrimLeft(typed, " "))
		}
	}
	return all, name
}

// expressions returns what an entry can begin with.
func expressions(s *session, typed string) (all []candidate, prefix string) {
	return s.completeText(typed, len(typed))
}

// runnable returns the nodes and functions. The input follows the name.
func runnable(s *session, typed string) (all []candidate, prefix string) {
	if strings.Contains(typed, " ") {
		return nil, ""
	}
	return s.completeText(typed, len(typed), "node", "function")
}

func switches(_ *session, typed string) (all []candidate, prefix string) {
	return []candidate{{"on", "from the next entry on"}, {"off", "no longer"}}, typed
}

// timed returns the switches, and expressions.
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

// scripts returns the scripts that a path may mean.
func scripts(s *session, typed string) (all []candidate, prefix string) {
	return s.filesOf(typed, ".star"), typed
}

// files returns the files that a path may mean.
func files(s *session, typed string) (all []candidate, prefix string) {
	return s.filesOf(typed, ""), typed
}

// filesOf lists the files that a path may mean, in the project or below the working directory.
func (s *session) filesOf(typed, suffix string) (all []candidate) {
	here, err := filepath.Abs(".")
	if err != nil {
		return nil
	}
	root := s.dir
	dir, err := filepath.Rel(root, here)
	if err != nil || !filepath.IsLocal(dir) {
		root, dir = here, "."
	}
	for _, f := range starlib.Files(os.DirFS(root), filepath.ToSlash(dir), filepath.ToSlash(typed), suffix) {
		all = append(all, candidate{f.Insert, f.Doc})
	}
	return all
}
