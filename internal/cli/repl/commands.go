package repl

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// command is a command of the prompt. The prompt dispatches, lists and completes commands from the table of commands.
type command struct {
	name  string
	args  string // as shown by :help
	doc   string
	do    func(s *session, args string) error // nil for a form of ?
	takes arguments                           // what can follow the name, or nil
	over  bool                                // with ! after its name it overwrites files
}

// commands returns the commands in the order of :help.
func commands() []command {
	return []command{
		{name: ":help", doc: "list the commands", do: (*session).help},
		{name: "?", args: "NAME", doc: "what a name is: its documentation"},
		{name: "??", args: "NAME", doc: "the statement that bound a name"},
		{name: ":type", args: "EXPR", doc: "the type of a value", do: (*session).typeOf, takes: expressions},
		{name: ":graph", args: "NODE", doc: "draw a node as Mermaid", do: (*session).graph, takes: expressions},
		{name: ":run", args: "NAME INPUT", doc: "run a node or function with a text, or with JSON", do: (*session).runNamed, takes: runnable},
		{name: ":cost", args: "NODE", doc: "the most that a run of a node costs", do: (*session).cost, takes: expressions},
		{name: ":diff", args: "[A, B]", doc: "how two values differ, at first the last two", do: (*session).diff, takes: expressions},
		{name: ":model", args: "[NAME]", doc: "show the model, or have all agents use another one", do: (*session).model},
		{name: ":mock", args: "[on|off]", doc: "whether answers are made up instead of asking models", do: (*session).mock, takes: switches},
		{name: ":trace", args: "[on|off]", doc: "whether each event of a run is shown", do: (*session).trace, takes: switches},
		{name: ":budget", args: "[LIMIT=N]", doc: "what was spent; calls, tools, tokens or usd bound each entry, LIMIT=off does not", do: (*session).budget, takes: limits},
		{name: ":load", args: "FILE", doc: "add the statements of a file", do: (*session).load, takes: scripts},
		{name: ":reload", doc: "load the file again: data stays, nothing runs again", do: (*session).reload},
		{name: ":save", args: "FILE", doc: "write the session as a script", do: (*session).save, takes: files, over: true},
		{name: ":save-test", args: "FILE", doc: "write the session as a test, with a record of what its runs were answered", do: (*session).saveTest, takes: files, over: true},
		{name: ":replay", doc: "repeat the last run from its record, without models, and show what differs", do: (*session).replay},
		{name: ":fix", doc: "apply the fix that the last error offers, at a terminal", do: (*session).fix},
		{name: ":more", doc: "show the rest of what was cut", do: (*session).more},
		{name: ":time", args: "[on|off|EXPR]", doc: "whether the time of each entry is shown, or that of one", do: (*session).time, takes: timed},
		{name: ":quit", doc: "leave, as Ctrl-D does", do: func(*session, string) error { return errQuit }},
	}
}

// usageOf returns the usage of the command that an entry begins with, or "".
func usageOf(entry string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(entry), " ")
	for _, c := range commands() {
		if c.name == name || c.over && c.name+"!" == name {
			return c.usage() + ": " + c.doc
		}
	}
	return ""
}

// usage returns how to write a command.
func (c command) usage() string {
	name := c.name
	if c.over {
		name += "[!]"
	}
	if c.do == nil {
		return name + c.args
	}
	return strings.TrimRight(name+" "+c.args, " ")
}

// command executes a command.
func (s *session) command(entry string) error {
	if name, ok := strings.CutPrefix(entry, "??"); ok {
		return s.source(strings.TrimSpace(name))
	}
	if name, ok := strings.CutPrefix(entry, "?"); ok {
		return s.about(strings.TrimSpace(name))
	}
	name, args := entry, ""
	if i := strings.IndexAny(entry, " \t\n"); i >= 0 {
		name, args = entry[:i], strings.TrimSpace(entry[i:])
	}
	plainly, over := strings.CutSuffix(name, "!")
	var names []string
	for _, c := range commands() {
		switch {
		case c.do == nil:
			continue
		case c.name == name, c.over && c.name == plainly:
			if c.args == "" && args != "" {
				return s.wrong(c.name, "%s takes nothing, and got %q", c.name, args)
			}
			s.over = over
			return c.do(s, args)
		}
		names = append(names, c.name)
	}
	help := ":help lists the commands"
	if near, ok := diag.Suggest(plainly, names); ok {
		help = "did you mean " + near + "?"
	}
	return s.wrong(help, "there is no command %s", name)
}

// wrong returns the error for a mistake in a command.
func (s *session) wrong(help, format string, args ...any) error {
	return s.fail(term.Usagef(help, format, args...))
}

func (s *session) help(string) error {
	return s.print(term.Table(2, func(w io.Writer) {
		for _, c := range commands() {
			fmt.Fprintf(w, "%s\t%s\n", c.usage(), c.doc)
		}
	}))
}
