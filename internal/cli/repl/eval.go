package repl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/repl/transcript"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// statement is an accepted statement.
type statement struct {
	transcript.Statement
	names []string
}

const longAnswer = 4 << 10

// recorded is a run that was recorded.
type recorded struct {
	block *agentscript.Block
	from  int // in the tape
	to    int
	ports *setup.Ports // the ones it ran with

	result generable.Value
}

// spending is what runs have used.
type spending struct {
	calls int
	usage model.Usage
}

func (s spending) String() string {
	said := fmt.Sprintf("%s, %d+%d tokens", text.Count(s.calls, "model call"), s.usage.In, s.usage.Out)
	if s.usage.CostUSD > 0 {
		said += ", $" + term.Amount(s.usage.CostUSD)
	}
	if s.usage.Unpriced > 0 {
		said += ", " + text.Count(s.usage.Unpriced, "call") + " without a known price"
	}
	return said
}

// entry evaluates one entry: a command, or statements. At a terminal, the error was reported.
func (s *session) entry(entry string) error {
	begun := time.Now()
	var err error
	switch typed := strings.TrimSuffix(strings.TrimSpace(entry), "()"); {
	case isCommand(entry):
		err = s.command(strings.TrimSpace(entry))
	case (typed == "exit" || typed == "quit") && !slices.Contains(s.ws.Module().Names(), typed): // as in other prompts
		return errQuit
	default:
		s.entered++
		name := fmt.Sprintf("entry %d", s.entered)
		err = s.eval(name, entry, s.ws.Read, nil)
	}
	if s.timed && !isCommand(entry) {
		err = errors.Join(err, s.print(fmt.Sprintf("took %s", time.Since(begun).Round(time.Millisecond))))
	}
	return err
}

// reads begins to add a text.
type reads func(ctx context.Context, name, source string) *agentscript.Block

// checked begins to add a text that was checked as a whole.
func (s *session) checked(ctx context.Context, name, source string) *agentscript.Block {
	return s.ws.Read(ctx, name, source).Checked()
}

// eval adds the statements of a text. skip, which may be nil, reports whether to leave out a statement that would run.
func (s *session) eval(name, source string, read reads, skip func(b *agentscript.Block) bool) error {
	ctx, stop := s.c.Interruptible()
	defer stop()
	s.c.Reloaded = false
	s.texts[name] = source
	b := read(ctx, name, source)
	before := s.ws.Module()
	var bound []string
	for b.Next(ctx) {
		s.c.Report(s.unsaid(b.Diagnostics()), s.sources())
		st := statement{names: b.Names()}
		st.Text, st.Ran = strings.TrimSpace(b.Text()), b.Runs()
		streamed := false
		if b.Runs() {
			if skip != nil && skip(b) {
				continue
			}
			said, err := s.run(ctx, b)
			if err != nil {
				return err
			}
			streamed = said
		}
		st.Value = b.IsValue()
		st.Changed, st.Prints = b.Changed(), b.Prints()
		st.Held = s.held(st)
		if slices.ContainsFunc(slices.Collect(maps.Values(st.Held)), transcript.Held.AtTop) {
			st.Lists = s.lists()
		}
		if st.Value && !streamed {
			if err := s.show(); err != nil {
				return err
			}
		}
		s.accepted = append(s.accepted, st)
		bound = append(bound, st.names...)
		for _, name := range st.names {
			s.written[name] = st.Text
		}
	}
	if err := b.Err(); err != nil {
		f := setup.LoadFailure(name, err)
		s.offer(source, f.Found)
		if f.Found = s.unsaid(f.Found); len(f.Found) == 0 {
			return errReported
		}
		return s.fail(f)
	}
	return s.earlier(before, bound)
}

// lists returns the lists, dicts and sets that names hold and that are data.
func (s *session) lists() map[string]generable.Value {
	m := s.ws.Module()
	all := map[string]generable.Value{}
	for _, name := range m.Names() {
		v, data := m.Value(name)
		if kind := v.Kind(); data && (kind == generable.ListKind || kind == generable.MapKind) {
			all[name] = v
		}
	}
	return all
}

// held returns what the names of a statement hold, and its value.
func (s *session) held(st statement) map[string]transcript.Held {
	m := s.ws.Module()
	all := map[string]transcript.Held{}
	names := st.names
	if st.Value {
		names = []string{starlib.Last}
	}
	for _, name := range names {
		typ, _, _, _ := m.Describe(name)
		held := transcript.Held{Type: typ, Kind: transcript.Other, Meta: m.Type(name)}
		v, data := m.Value(name)
		switch {
		case typ == "":
			continue
		case data:
			held.Kind, held.Data = transcript.Data, v
		case m.Node(name) != nil:
			held.Kind = transcript.Node
		case held.Meta != nil:
			held.Kind = transcript.Type
		case typ == "function" || typ == "builtin_function_or_method":
			held.Kind = transcript.Function
		case typ == "list" || typ == "dict" || typ == "set" || typ == "tuple":
			held.Kind = transcript.Mixed
		}
		all[name] = held
	}
	return all
}

// run runs the statement that was composed last. It reports whether the value was written during the run.
func (s *session) run(ctx context.Context, b *agentscript.Block) (said bool, err error) {
	if s.ports == nil {
		ports, problem := setup.OpenPorts(s.c, &setup.Script{Module: s.ws.Module(), File: s.file}, s.flags, s.own)
		if problem != nil {
			return false, s.fail(problem)
		}
		s.ports = ports
	}
	inSession, err := setup.InSession(ctx, s.c, &s.flags.Session, s.ports, nil)
	if err != nil {
		return false, s.fail(err)
	}
	s.ports.Knows(s.ws.Module())
	from := s.tape.Len()
	result, said, err := s.follow(ctx, b, append(s.ports.Options, agentscript.RunLimits(s.flags.Limits(s.own)), inSession))
	ran := *b
	s.last = &recorded{&ran, from, s.tape.Len(), s.ports, result}
	if err == nil {
		err = b.Take(agentscript.Result{Value: result})
	}
	return said, err
}

// follow runs a statement with options, and shows its progress. It reports whether that already showed the value.
func (s *session) follow(ctx context.Context, b *agentscript.Block, opts []agentscript.RunOption) (_ generable.Value, said bool, err error) {
	ctx, cancel := s.flags.Deadline(ctx, time.Now())
	defer cancel()
	ctx, s.interrupt = context.WithCancel(ctx)
	defer s.interrupt()
	streamed := &stream{write: s.c.Write}
	stderr := besides{streamed, s.c.Stderr}
	sinks := []term.Sink{&term.Prints{Out: stderr, File: plainName}}
	if s.verbose {
		sinks[0] = term.NewProgress(stderr, term.ProgressStyle{Color: s.c.Color(), Verbose: true, File: plainName})
	}
	used := &counted{}
	sinks = append(sinks, used)
	if s.in.interactive() && !s.flags.Quiet {
		sinks = append(sinks, streamed)
	}
	if d := s.c.Denials(); d != nil {
		sinks = append(sinks, d)
	}
	kinds := engine.EventKind(0)
	for _, sink := range sinks {
		kinds |= sink.Kinds()
	}
	run := b.Start(ctx, append(opts, agentscript.Watch(kinds))...)
	for e := range run.Events() {
		s.c.Talk.Lock()
		for _, sink := range sinks {
			if sink.Kinds()&e.Kind != 0 {
				sink.Event(e)
			}
		}
		s.c.Talk.Unlock()
	}
	streamed.end()
	result, err := run.Wait()
	s.spent.calls += used.calls
	s.spent.usage = s.spent.usage.Add(used.usage)
	if err != nil {
		unanswered := errors.Is(err, engine.ErrApproval) && errors.Is(ctx.Err(), context.Canceled)
		if (unanswered || errors.Is(err, engine.ErrCancelled)) && s.in.interactive() {
			return generable.Value{}, false, errors.Join(s.print("interrupted: "+used.String()), errInterrupted)
		}
		if s.ports != nil {
			err = s.ports.Scripted.Explained(err)
		}
		return generable.Value{}, false, s.fail(&term.Failure{Found: diag.List{term.Diagnose(err)}})
	}
	answer, ok := result.Value.AsStr()
	return result.Value, ok && streamed.said(answer), nil
}

// counted counts the calls of models and what they use.
type counted struct{ spending }

func (*counted) Kinds() engine.EventKind { return engine.EventEffect }

func (n *counted) Event(e engine.Event) {
	if d, ok := e.Data.(*event.Effect); ok && d.Phase == engine.PhaseEnd && d.Usage != nil {
		n.calls++
		n.usage = n.usage.Add(*d.Usage)
	}
}

// part matches the number of a statement in the name of its text, which people do not need.
var part = lazy.Regexp(`(\w)#\d+`)

func plainName(file string) string { return part().ReplaceAllString(file, "$1") }

// plain replaces the names of texts in diagnostics by those that people know.
func plain(found diag.List) diag.List {
	return text.Each(found, func(d *diag.Diagnostic) *diag.Diagnostic {
		own := *d
		own.Span.File, own.Message = plainName(d.Span.File), plainName(d.Message)
		own.Help = text.Each(d.Help, func(help string) string {
			for name, flag := range budgetFlags {
				help = strings.ReplaceAll(help, "--"+flag, ":budget "+name+"=N")
			}
			return help
		})
		own.Notes = text.Each(d.Notes, func(n diag.Note) diag.Note {
			n.Pos.File, n.Message = plainName(n.Pos.File), plainName(n.Message)
			return n
		})
		own.Trace = text.Each(d.Trace, func(f diag.Frame) diag.Frame {
			f.Pos.File = plainName(f.Pos.File)
			return f
		})
		return &own
	})
}

// sources returns the texts of all entries, and of the files that they loaded.
func (s *session) sources() diag.Sources {
	others := s.ws.Sources()
	return diag.SourceFunc(func(file string) (string, bool) {
		if text, ok := s.texts[file]; ok {
			return text, true
		}
		return others.Source(file)
	})
}

// fail reports an error: to a person at once, otherwise when the command ends.
func (s *session) fail(err error) error {
	f, ok := errors.AsType[*term.Failure](err)
	if !ok {
		f = &term.Failure{Code: term.ExitFailed, Found: diag.List{{Message: err.Error()}}}
	}
	f = &term.Failure{Code: term.ExitFailed, Found: plain(f.Found), Sources: s.sources()}
	if s.in.interactive() {
		s.c.Report(f.Found, f.Sources)
		return errReported
	}
	return f
}

// errReported means that an error was shown.
var errReported = errors.New("reported")

// say writes a line about what the session did unasked.
func (s *session) say(line string) error {
	if s.flags.Quiet {
		return nil
	}
	return s.print(line)
}
