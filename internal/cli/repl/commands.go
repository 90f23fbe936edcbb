package repl

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/draw"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/internal/cli/cost"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/starlib"
)

// command is one of the prompt.
type command struct {
	usage string
	doc   string
	do    func(s *session, rest string) error
}

// commands are those that :help lists, in this order.
func commands() []command {
	return []command{
		{":help", "list the commands", (*session).help},
		{"?NAME", "what a name is: its documentation", nil},
		{"??NAME", "the statement that bound a name", nil},
		{":type EXPR", "the type of a value", (*session).typeOf},
		{":graph NODE", "draw a node as Mermaid", (*session).graph},
		{":run NAME INPUT", "run a node or function with a text, or with JSON", (*session).runNamed},
		{":cost NODE", "the most that a run of a node costs", (*session).cost},
		{":model [NAME]", "show the model, or have all agents use another one", (*session).model},
		{":mock [on|off]", "have answers made up instead of asking models", (*session).mock},
		{":trace [on|off]", "show each event of a run", (*session).trace},
		{":budget [LIMIT=N]", "what was spent; calls, tools, tokens or usd bound each entry", (*session).budget},
		{":load FILE", "add the statements of a file", (*session).load},
		{":reload", "load the file again: data stays, nothing runs again", (*session).reload},
		{":save FILE", "write the session as a script", (*session).save},
		{":save-test FILE", "write the session as a test, with a record of what its runs were answered", (*session).saveTest},
		{":replay", "repeat the last run from its record, without models", (*session).replay},
		{":fix", "apply the fix that the last error offers", (*session).fix},
		{":more", "show the rest of what was cut", (*session).more},
		{":time [EXPR]", "show how long an entry takes, or each from now on", (*session).time},
		{":quit", "leave, as Ctrl-D does", func(*session, string) error { return errQuit }},
	}
}

// name is the command without its argument.
func (c command) name() string { return strings.Fields(c.usage)[0] }

// command carries out a command.
func (s *session) command(entry string) error {
	if name, ok := strings.CutPrefix(entry, "??"); ok {
		return s.source(strings.TrimSpace(name))
	}
	if name, ok := strings.CutPrefix(entry, "?"); ok {
		return s.about(strings.TrimSpace(name))
	}
	name, rest := entry, ""
	if i := strings.IndexAny(entry, " \t\n"); i >= 0 {
		name, rest = entry[:i], strings.TrimSpace(entry[i:])
	}
	var names []string
	for _, c := range commands() {
		if c.do != nil && c.name() == name {
			return c.do(s, rest)
		}
		if c.do != nil {
			names = append(names, c.name())
		}
	}
	help := ":help lists the commands"
	if near, ok := diag.Suggest(name, names); ok {
		help = "did you mean " + near + "?"
	}
	return s.wrong(help, "there is no command %s", name)
}

// wrong is a mistake in a command.
func (s *session) wrong(help, format string, args ...any) error {
	return s.fail(term.Usagef(help, format, args...))
}

func (s *session) help(string) error {
	return s.print(term.Table(2, func(w io.Writer) {
		for _, c := range commands() {
			fmt.Fprintf(w, "%s\t%s\n", c.usage, c.doc)
		}
	}))
}

// about shows what a name is.
func (s *session) about(name string) error {
	if name == "" {
		return s.help("")
	}
	m := s.ws.Module()
	typ, shown, help, _ := m.Describe(name)
	if b, ok := starlib.Universe().Lookup(name); ok && typ == "" {
		return s.print(b.Signature() + "\n\n" + strings.TrimSpace(b.Doc))
	}
	if typ == "" {
		return s.unknown(name)
	}
	if _, data := m.Value(name); data {
		return s.print(name + " is " + typ + " " + shown)
	}
	return s.print(plainName(strings.TrimSpace(help)))
}

// unknown is a name that means nothing.
func (s *session) unknown(name string) error {
	return s.wrong(diag.DidYouMean(name, s.names()), "there is no %s", name)
}

// names are those of the workspace and of the language.
func (s *session) names() []string {
	names := s.ws.Module().Names()
	for _, b := range starlib.Universe().Rows() {
		names = append(names, b.QualifiedName())
	}
	return names
}

// source shows the statement that bound a name.
func (s *session) source(name string) error {
	if written := s.written[name]; written != "" {
		return s.print(written)
	}
	typ, _, _, at := s.ws.Module().Describe(name)
	switch {
	case typ == "":
		return s.unknown(name)
	case at.IsValid():
		return s.print(name + " is written at " + plainName(at.String()))
	}
	return s.print(name + " belongs to the language: ?" + name + " says what it does")
}

func (s *session) typeOf(expr string) error {
	if expr == "" {
		return s.wrong(":type EXPR", ":type takes an expression")
	}
	ctx, stop := s.c.Interruptible()
	defer stop()
	b := s.ws.Read(ctx, "expression", expr)
	if !b.Next(ctx) {
		if err := b.Err(); err != nil {
			s.texts["expression"] = expr
			return s.fail(setup.LoadFailure("expression", err))
		}
		return nil
	}
	if b.Runs() {
		return s.print("known when it runs")
	}
	m := s.ws.Module()
	typ, _, _, _ := m.Describe(starlib.Last)
	if n := m.Node(starlib.Last); n != nil {
		typ = fmt.Sprintf("%s: %s → %s", n.Kind(), n.In(), n.Out())
	} else if v, ok := m.Value(starlib.Last); ok {
		if r, ok := v.AsRecord(); ok {
			typ = r.Type().Name
		}
	} else if t := m.Type(starlib.Last); t != nil {
		typ = typeText(t)
	}
	if typ == "" {
		typ = "None"
	}
	return s.print(strings.Replace(typ, "string", "str", 1))
}

// node is the node that a name holds.
func (s *session) node(command, name string) (*flow.Node, error) {
	if n := s.ws.Module().Node(name); n != nil {
		return n, nil
	}
	var nodes []string
	for _, known := range s.ws.Module().Names() {
		if s.ws.Module().Node(known) != nil {
			nodes = append(nodes, known)
		}
	}
	help := "there is no node yet"
	if len(nodes) > 0 {
		help = "the nodes are " + strings.Join(nodes, ", ")
	}
	if near := diag.DidYouMean(name, nodes); near != "" {
		help = near
	}
	return nil, s.wrong(help, "%s takes the name of a node, and %q is none", command, name)
}

func (s *session) graph(name string) error {
	n, err := s.node(":graph", name)
	if err != nil {
		return err
	}
	return s.print(strings.TrimSuffix(draw.Mermaid(n), "\n"))
}

// runNamed runs what a name holds: a node that takes a str with the text, others with JSON.
func (s *session) runNamed(rest string) error {
	name, input, _ := strings.Cut(rest, " ")
	input = strings.TrimSpace(input)
	m := s.ws.Module()
	typ, _, _, _ := m.Describe(name)
	if typ == "" {
		return s.unknown(name)
	}
	n := m.Node(name)
	if n == nil && typ != "function" {
		return s.wrong("name a node or a function", "%s is %s, which cannot be run", name, typ)
	}
	arg := syntax.Quote(input, false)
	asText := n != nil && n.In().String() == "str"
	if n == nil {
		f, err := m.Flow(name)
		if err != nil {
			return s.fail(setup.LoadFailure(name, err))
		}
		switch params := f.Params.Fields; {
		case len(params) == 0 && input == "":
			arg, asText = "", true
		case len(params) == 1 && !strings.HasPrefix(input, "{"): // the only argument, as run takes it
			if asText = params[0].Type.AcceptsText(); !asText {
				arg, asText = "json.decode("+arg+")", true
			}
		}
	}
	switch {
	case asText:
	case n == nil:
		arg = "**json.decode(" + arg + ")"
	case input == "" && n.In().AcceptsNone():
		arg = "None"
	default:
		arg = "json.decode(" + arg + ")"
	}
	return s.eval(":run", name+"("+arg+")", nil)
}

func (s *session) cost(name string) error {
	n, err := s.node(":cost", name)
	if err != nil {
		return err
	}
	registry, problem := setup.Registry(s.c, s.flags.EnvFile, "")
	if problem != nil {
		return s.fail(problem)
	}
	called, _ := flow.Called(n)
	bounds, shared := flow.SharedBounds(1, append([]*flow.Node{n}, called...)...)
	model := ""
	if given := s.flags.ModelsGiven(); len(given) > 0 && !strings.Contains(given[0], "=") {
		model = given[0]
	}
	return s.print(cost.Of(name, len(called) > 0, 1, bounds, shared, registry, model).String())
}

// reopen has the next run open its models anew.
func (s *session) reopen() {
	s.close()
	s.ports = nil
}

func (s *session) model(name string) error {
	if name == "" {
		given := strings.Join(s.flags.ModelsGiven(), ", ")
		switch {
		case s.flags.Scripted != "":
			given = "answers of " + s.flags.Scripted
		case s.flags.Calls.Replay != "":
			given = "the record " + s.flags.Calls.Replay
		case s.flags.Mock.On:
			given = "made-up answers"
		case given == "":
			given = "each agent's own"
		}
		return s.say(given)
	}
	s.flags.UseModel(name)
	s.reopen()
	return nil
}

// onOff reads a switch; without a word it turns the other way.
func (s *session) onOff(command, word string, is *bool) error {
	switch word {
	case "on", "off":
		*is = word == "on"
	case "":
		*is = !*is
	default:
		return s.wrong(command+" on, or "+command+" off", "%s takes on or off", command)
	}
	if *is {
		return s.say(command[1:] + " is on")
	}
	return s.say(command[1:] + " is off")
}

func (s *session) mock(word string) error {
	err := s.onOff(":mock", word, &s.flags.Mock.On)
	if err == nil {
		s.reopen()
	}
	return err
}

func (s *session) trace(word string) error { return s.onOff(":trace", word, &s.verbose) }

// budgetFlags are the flags that :budget sets.
var budgetFlags = map[string]string{"calls": "max-model-calls", "tools": "max-tool-calls", "tokens": "max-tokens", "usd": "max-usd"}

func (s *session) budget(limits string) error {
	for limit := range strings.FieldsSeq(limits) {
		name, value, ok := strings.Cut(limit, "=")
		flag := budgetFlags[name]
		if !ok || flag == "" {
			known := slices.Sorted(maps.Keys(budgetFlags))
			return s.wrong("the limits are "+strings.Join(known, ", ")+": :budget calls=10", "there is no limit %q", name)
		}
		if n, err := strconv.ParseFloat(value, 64); err != nil || n < 0 {
			return s.wrong("", "%s takes a number that is not negative, and got %q", name, value)
		}
		if err := s.own.Set(flag, value); err != nil {
			return s.wrong("", "%s: %v", name, err)
		}
	}
	said := "spent: " + s.spent.String()
	for _, name := range slices.Sorted(maps.Keys(budgetFlags)) {
		if flag := s.own.Lookup(budgetFlags[name]); flag.Changed {
			said += fmt.Sprintf("\n%s of an entry: at most %s", name, flag.Value)
		}
	}
	return s.say(said)
}

func (s *session) load(file string) error {
	if file == "" {
		return s.wrong(":load FILE", ":load takes the name of a file")
	}
	source, err := setup.ReadSource(file)
	if err != nil {
		return s.fail(err)
	}
	s.loaded = file
	return s.eval(filepath.Base(file), string(source), nil)
}

func (s *session) replay(string) error {
	if s.last == nil {
		return s.wrong("call a node first", "nothing ran yet")
	}
	opts, err := s.last.ports.Again(s.tape.Bytes()[s.last.from:s.last.to], s.flags)
	if err != nil {
		return s.fail(err)
	}
	ctx, stop := s.c.Interruptible()
	defer stop()
	spent := s.spent
	defer func() { s.spent = spent }() // nothing was asked
	return s.follow(ctx, s.last.block, append(opts, agentscript.RunLimits(s.flags.Limits(s.own))))
}

// offer is a fix of the last entry that failed.
type offer struct {
	source string
	fix    diag.Fix
}

// offer keeps the first fix of what was found.
func (s *session) offer(source string, found diag.List) {
	s.offered = nil
	for _, d := range found {
		if len(d.Fixes) > 0 {
			s.offered = &offer{source, d.Fixes[0]}
			return
		}
	}
}

func (s *session) fix(string) error {
	if s.offered == nil {
		return s.wrong("", "the last entry has no error with a fix")
	}
	o := s.offered
	s.offered = nil
	lines := strings.SplitAfter(o.source, "\n")
	at := o.fix.Span
	if at.Line < 1 || at.Line > len(lines) {
		return s.wrong("", "the fix has no place in the entry")
	}
	line := []rune(lines[at.Line-1])
	from := min(max(at.Col-1, 0), len(line))
	to := min(from+at.Len, len(line))
	lines[at.Line-1] = string(line[:from]) + o.fix.Replacement + string(line[to:])
	fixed := strings.Join(lines, "")
	if err := s.print(strings.TrimRight(fixed, "\n")); err != nil {
		return err
	}
	return s.entry(fixed)
}

func (s *session) more(string) error {
	if s.rest == "" {
		return s.say("there is no more")
	}
	return s.print(s.rest)
}

func (s *session) time(expr string) error {
	if expr == "" {
		return s.onOff(":time", "", &s.timed)
	}
	before := s.timed
	s.timed = true
	defer func() { s.timed = before }()
	return s.entry(expr)
}

// create writes a file that is not there yet.
func (s *session) create(file, text string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(s.c.Hidden(text))
		err = errors.Join(err, f.Close())
	}
	switch {
	case errors.Is(err, os.ErrExist):
		return s.wrong("name another file", "%s is there already", file)
	case err != nil:
		return s.wrong("", "%s: %s", file, term.FileProblem(err))
	}
	return s.say("wrote " + file)
}
