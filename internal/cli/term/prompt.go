package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Approver settles who answers approvals: everybody is told yes, or a person at the terminal is
// asked. Else there is nobody, and what is asked fails.
func (c *Console) Approver(yes bool) engine.Handler {
	if yes {
		return engine.Approvals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
			return engine.Decision{Approved: true, Reason: "--yes"}, nil
		})
	}
	if in, out := c.person(); in != nil {
		t := &prompter{in: in, out: out, mu: &c.Talk, always: map[string]bool{}}
		return engine.Approvals(t.ask)
	}
	return engine.Handlers(nil)
}

// person is where somebody can be asked: the terminal at both ends, or the process's own when the
// input or stderr alone is elsewhere. Without either nobody is there, as in a job that keeps a
// terminal without watching it.
func (s *Process) person() (io.Reader, io.Writer) {
	if s.StdinTerminal && s.StderrTerminal {
		return s.Stdin, s.Stderr
	}
	if s.OpenTerminal == nil || !s.StdinTerminal && !s.StderrTerminal {
		return nil, nil
	}
	t, err := s.OpenTerminal()
	if err != nil { // it has none of its own
		return nil, nil
	}
	return t, t
}

// prompter asks at a terminal, one question after the other.
type prompter struct {
	in  io.Reader
	out io.Writer

	mu     *sync.Mutex // held while a question stands, so that nothing is written into it
	always map[string]bool
	once   sync.Once
	lines  chan string // what is typed; closed at the end of the input
	ended  error       // why it is closed
}

// longestAnswer bounds a line that is typed or pasted, in bytes.
const longestAnswer = 1 << 20

// read hands on what is typed for as long as the process lives: a read from a terminal cannot be
// stopped.
func (t *prompter) read() {
	t.lines = make(chan string)
	go func() {
		defer close(t.lines)
		s := bufio.NewScanner(t.in)
		s.Buffer(nil, longestAnswer)
		for s.Scan() {
			t.lines <- s.Text()
		}
		if t.ended = errors.New("the input ended"); s.Err() != nil {
			t.ended = fmt.Errorf("what was typed cannot be read: %w", s.Err())
		}
	}()
}

// line waits for a line of the person.
func (t *prompter) line(ctx context.Context) (string, error) {
	t.once.Do(t.read)
	select {
	case s, ok := <-t.lines:
		if !ok {
			return "", t.ended
		}
		return strings.TrimSpace(s), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (t *prompter) ask(ctx context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Tool != "" && t.always[r.Tool] {
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
		word, rest, _ := strings.Cut(typed, " ")
		rest = strings.TrimSpace(rest)
		switch strings.ToLower(word) {
		case "y", "yes":
			return engine.Approve(), nil
		case "n", "no":
			return engine.Deny(rest), nil
		case "a", "always":
			if r.Tool != "" {
				t.always[r.Tool] = true
				return engine.Decision{Approved: true, Reason: "always"}, nil
			}
		case "e", "edit":
			v, err := r.Fits(rest)
			if err == nil {
				return engine.ApproveWith(v), nil
			}
			t.say("  that does not fit:\n")
			for line := range strings.Lines(err.Error()) {
				t.say("%s\n", folded("    "+text.Visible(strings.TrimRight(line, "\n"))))
			}
		}
	}
}

func (t *prompter) say(format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, format, args...) // a terminal that is gone ends the input as well
}

// question shows what is decided about, all of it: each argument on lines of its own.
func question(r *engine.ApprovalRequest) string {
	var b strings.Builder
	what := text.Visible(r.Question)
	if r.Tool != "" {
		what = "agent " + text.Visible(r.Agent) + " wants to call " + text.Visible(r.Tool)
		if r.Why != "" {
			what += " (" + text.Visible(r.Why) + ")"
		}
	}
	b.WriteString("\n" + folded(what) + "\n")
	rec, ok := r.Data.AsRecord()
	switch {
	case ok:
		for i, f := range rec.Type().Fields {
			b.WriteString(folded("  "+text.Visible(f.Name)+": "+text.Visible(generable.JSON(rec.At(i), f.Type))) + "\n")
		}
	case !r.Data.IsNull():
		b.WriteString(folded("  "+text.Visible(generable.JSON(r.Data, nil))) + "\n")
	}
	return b.String()
}

func choices(r *engine.ApprovalRequest) string {
	if r.Tool == "" {
		return "y(es), n(o) REASON, e(dit) JSON: "
	}
	return "y(es), n(o) REASON, a(lways " + text.Visible(r.Tool) + "), e(dit) JSON: "
}
