package starlib_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// TestJoints checks that a value of the wrong type is reported, and shown, where the script joined its producer to its
// consumer.
func TestJoints(t *testing.T) {
	const parts = `any_fn = fn(lambda s: 3)
upper = agent(run = lambda s: s.upper())
same = fn(lambda s: s, input = str, output = str)
pick_any = fn(lambda s: {"a": "x" * 200})
`
	for _, tt := range []struct {
		name, src string
		at        string // column of the caret in the last line, "" for the node's own position
		says      string
	}{
		{"operator", "main = any_fn >> upper", ">>", "upper takes str: want str, got int; any_fn returned 3"},
		{"chain", "main = same >> any_fn >> upper >> fn(len, input = str, output = int)", ">> upper", "any_fn returned 3"},
		{"then", "main = then(same, any_fn, upper)", "upper)", "any_fn returned 3"},
		{"method", "main = any_fn.then(upper)", "upper)", "any_fn returned 3"},
		{"into a structure", "main = any_fn >> (same / upper)", ">>", "any_fn returned 3"},
		{"named structure", "both = same / upper\nmain = any_fn >> both", ">>", "any_fn returned 3"},
		{"par output", "main = par(any_fn, same, output = str)", "par(", "any_fn must return str: want str, got int; it returned 3"},
		{"branch handler", "main = fn(lambda s: 3, input = str).branch([when(lambda x: True, upper)], otherwise = same)", "upper)", "fn returned 3"},
		{"branch otherwise", "main = fn(lambda s: 3, input = str).branch([when(lambda x: False, upper)], otherwise = same)", "same)", "fn returned 3"},
		{"branch output", "main = same.branch([when(lambda x: True, any_fn)], otherwise = fn(str), output = str)", "same.branch", "any_fn must return str"},
		{"loop", "main = loop(same, any_fn)", "any_fn)", "same takes str: want str, got int; any_fn returned 3"},
		{"called", "def main():\n    f = upper\n    return f(any_fn(\"x\"))", "(any_fn", "upper takes str: want str, got int; it got 3"},
		{"long value", "main = pick_any >> upper", ">>", `pick_any returned {"a":"` + strings.Repeat("x", 54) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := parts + tt.src
			input := generable.StrOf("in")
			if strings.Contains(tt.src, "def main") {
				input = generable.Value{}
			}
			s := spec(t, sound(t, src), input)
			s.Handler = refuse
			_, err := run.Exec(sched.NewCoopSched(1), &s)
			var e *engine.Error
			if !errors.As(err, &e) || e.Code != diag.WrongTypeAtBoundary || !strings.Contains(e.Message, tt.says) {
				t.Fatalf("want %q, got %v", tt.says, err)
			}
			lines := strings.Split(src, "\n")
			want := strings.Index(lines[len(lines)-1], tt.at) + 1
			if e.Pos.Line != len(lines) || e.Pos.Col != want {
				t.Errorf("it is at %v, want line %d, column %d", e.Pos, len(lines), want)
			}
			var d *diag.Diagnostic
			if !errors.As(e.Cause, &d) || len(d.Notes) == 0 || !strings.Contains(d.Notes[0].Message, "is defined") {
				t.Errorf("the cause does not say where the nodes are: %+v", e.Cause)
			}
		})
	}
}

// TestUnknownProviderPosition checks that the argument is reported, not the agent.
func TestUnknownProviderPosition(t *testing.T) {
	s := spec(t, sound(t, "main = agent(prompt = \"x\", model = \"olama/q\")"), generable.StrOf("in"))
	s.Handler = engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.UnknownProvider, "no such provider"))
	})
	for model, want := range map[string]string{"": "main.star:1:36", "other/q": "main.star:1:8"} {
		own := s
		if model != "" {
			own.Model, own.Overrides = model, true
		}
		_, err := run.Exec(sched.NewCoopSched(1), &own)
		var e *engine.Error
		var d *diag.Diagnostic
		if !errors.As(err, &e) || e.Code != diag.UnknownProvider || e.Pos.String() != want {
			t.Errorf("with the model %q: got %+v, want it at %s", model, err, want)
		} else if errors.As(e.Cause, &d) != (model == "") || d != nil && d.Span.Len != len(`"olama/q"`) {
			t.Errorf("with the model %q: the cause is %+v", model, e.Cause)
		}
	}
}
