package term

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Approver returns the handler of approvals: with yes it approves everything, otherwise it asks a person at the
// terminal. If nobody can be asked, the requests fail.
func (c *Console) Approver(yes bool) engine.Handler {
	if yes {
		return engine.Approvals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
			return engine.Decision{Approved: true, Reason: "--yes"}, nil
		})
	}
	if c.prompter != nil { // the reader of the terminal continues
		return engine.Approvals(c.prompter.ask)
	}
	if in, out := c.person(); in != nil {
		c.prompter = &prompter{in: in, out: out, c: c, always: map[[2]string]bool{}, edited: map[string]string{}}
		return engine.Approvals(c.prompter.ask)
	}
	return engine.Handlers(nil)
}

// Prompts reports whether a person at the terminal is asked.
func (c *Console) Prompts() bool { return c.prompter != nil }

// person returns the streams for asking a person: the terminal at both ends, or the process's own if only the input or
// stderr is redirected. If neither is a terminal, nobody is there, as in a job that has a terminal nobody watches.
func (s *Process) person() (io.Reader, io.Writer) {
	if s.StdinTerminal && s.StderrTerminal {
		return s.Stdin, s.Stderr
	}
	if s.OpenTerminal == nil || !s.StdinTerminal && !s.StderrTerminal {
		return nil, nil
	}
	t, err := s.OpenTerminal()
	if err != nil { // it has no terminal
		return nil, nil
	}
	return t, t
}

// prompter asks questions at a terminal, one after the other.
type prompter struct {
	in  io.Reader
	out io.Writer

	c       *Console           // used exclusively while a question is open
	always  map[[2]string]bool // always approved, by agent and tool
	edited  map[string]string  // the tools of calls that a person edited, by the position of the call
	once    sync.Once
	wants   chan struct{} // requests for lines, one each
	lines   chan string   // typed lines; closed at the end of the input
	reading bool          // a line was requested and has not arrived
	ended   error         // why lines is closed
}

// longestAnswer bounds a typed or pasted line, in bytes.
const longestAnswer = 1 << 20

// read delivers the requested lines for the rest of the process: a read from a terminal cannot be stopped.
func (t *prompter) read() {
	t.wants, t.lines = make(chan struct{}, 1), make(chan string)
	go func() {
		defer close(t.lines)
		s := bufio.NewScanner(t.in)
		s.Buffer(nil, longestAnswer)
		for range t.wants {
			if !s.Scan() {
				break
			}
			t.lines <- s.Text()
		}
		if t.ended = errors.New("the input ended"); s.Err() != nil {
			t.ended = fmt.Errorf("what was typed cannot be read: %w", s.Err())
		}
	}()
}

// line waits for a typed line.
func (t *prompter) line(ctx context.Context) (string, error) {
	if t.c.ReadLine != nil {
		t.say("\n") // the line reader starts on a new line
		s, err := t.c.ReadLine(ctx)
		return strings.TrimSpace(s), err
	}
	t.once.Do(t.read)
	if !t.reading {
		t.reading = true
		t.wants <- struct{}{}
	}
	select {
	case s, ok := <-t.lines:
		t.reading = !ok // after the end of the input nothing arrives any more
		if !ok {
			return "", t.ended
		}
		return strings.TrimSpace(s), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (t *prompter) ask(ctx context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
	clock.Turn(ctx) // of simultaneous questions, the one that is written first
	defer t.c.Alone()()
	of := [2]string{r.Agent, r.Tool}
	if r.Tool != "" && t.always[of] {
		return engine.Decision{Approved: true, Reason: "always"}, nil
	}
	if err := ctx.Err(); err != nil { // while others were asked
		return engine.Decision{}, err
	}
	t.say("%s", question(r))
	for {
		t.say("%s", choices(r))
		typed, err := t.line(ctx)
		if err != nil {
			t.say("\n")
			return engine.Decision{}, err
		}
		word, rest := typed, ""
		if i := strings.IndexFunc(typed, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); i >= 0 {
			word, rest = typed[:i], strings.TrimSpace(typed[i:])
		}
		switch strings.ToLower(word) {
		case "y", "yes":
			if rest == "" {
				return engine.Approve(), nil
			}
			t.tell("a yes takes nothing after it: to change what is done write e and the JSON")
			continue
		case "n", "no":
			return engine.Deny(strings.TrimLeft(rest, " ,:;.-")), nil
		case "a", "always":
			if r.Tool != "" && (rest == "" || rest == r.Tool) {
				t.always[of] = true
				t.tell("every further call of " + r.Tool + " by agent " + r.Agent + " in this run is approved with any arguments; what is denied stays so")
				return engine.Decision{Approved: true, Reason: "always"}, nil
			}
		case "e", "edit":
			v, err := r.Fits(rest)
			if err == nil {
				path, _, _ := strings.Cut(r.ID, "/approval")
				t.edited[path] = r.Tool
				return engine.ApproveWith(v), nil
			}
			t.say("  that does not fit:\n")
			for line := range strings.Lines(err.Error()) {
				t.say("%s\n", folded("    "+text.Visible(strings.TrimRight(line, "\n"))))
			}
			continue
		}
		t.tell(fmt.Sprintf("%q is no answer: %s", text.ClipMiddle(typed, 40), takes(r)))
	}
}

// takes lists the possible answers.
func takes(r *engine.ApprovalRequest) string {
	all := "write y to approve, n and a reason to refuse, "
	if r.Tool != "" {
		all += "a to approve every further call of " + r.Tool + " as well, "
	}
	return all + "or e and the JSON that is to be taken instead"
}

// ruledOut informs the person that a rule denies the call which they edited. Policies check again what a person writes,
// after the answer.
func (t *prompter) ruledOut(e engine.Event, d *event.Policy) {
	tool := t.edited[e.Path]
	if tool == "" || d.Phase != engine.PhaseEnd {
		return
	}
	delete(t.edited, e.Path)
	if d.Err != nil {
		defer t.c.aside()()
		t.tell("the call of " + tool + " as you edited it is not made: " + cmp.Or(d.Err.Help, d.Err.Message))
	}
}

// denials informs the person of edited calls that rules deny.
type denials struct{ of *prompter }

// Denials returns the sink that informs the person at the terminal when a rule denies a call which they edited. It
// returns nil if nobody is asked.
func (c *Console) Denials() Sink {
	if c.prompter == nil {
		return nil
	}
	return denials{c.prompter}
}

func (denials) Kinds() engine.EventKind { return engine.EventPolicy }

func (d denials) Event(e engine.Event) {
	if p, ok := e.Data.(*event.Policy); ok {
		d.of.ruledOut(e, p)
	}
}

// tell writes a text between questions.
func (t *prompter) tell(s string) { t.say("%s", shown("  ", s)) }

func (t *prompter) say(format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, format, args...) // a terminal that is closed ends the input too
}

// question shows everything that is to be decided: each argument on separate lines, a text of several lines unchanged.
func question(r *engine.ApprovalRequest) string {
	var b strings.Builder
	what := r.Question
	if r.Tool != "" {
		what = "agent " + text.Visible(r.Agent) + " wants to call " + text.Visible(r.Tool)
		if r.Why != "" {
			what += " (" + text.Visible(r.Why) + ")"
		}
	}
	b.WriteString("\n" + shown("", what))
	rec, ok := r.Data.AsRecord()
	switch {
	case ok:
		for i, f := range rec.Type().Fields {
			b.WriteString(argument("  "+text.Visible(f.Name)+": ", rec.At(i), f.Type))
		}
	case !r.Data.IsNull():
		b.WriteString(argument("  ", r.Data, nil))
	}
	return b.String()
}

// argument shows a value: as JSON, a text of several lines line by line.
func argument(name string, v generable.Value, t *generable.Type) string {
	if s, ok := v.AsStr(); ok && strings.Contains(strings.TrimRight(s, "\n"), "\n") {
		return shown(name, "\n"+s)
	}
	return shown(name, generable.JSON(v, t))
}

func choices(r *engine.ApprovalRequest) string {
	if r.Tool == "" {
		return "y(es), n(o) REASON, e(dit) JSON: "
	}
	return "y(es), n(o) REASON, a(lways " + text.Visible(r.Tool) + "), e(dit) JSON: "
}
