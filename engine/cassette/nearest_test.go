package cassette_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// touch returns an effect of a capability with one argument.
func touch(kind engine.EffectKind, op, argument string) *engine.Effect {
	args := generable.NewMap(1)
	args.Set("path", generable.StrOf(argument))
	return &engine.Effect{Kind: kind, Name: op, At: &engine.Frame{}, Req: &capability.Request{Op: op, Args: args}}
}

// records returns the record of effects that all result in a text.
func records(t *testing.T, effects ...*engine.Effect) string {
	t.Helper()
	var b strings.Builder
	h := cassette.Record(&b, nil, nil).Around(engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Value: generable.StrOf("text"), Attempt: 1}
	}))
	for _, e := range effects {
		if out := h.Do(t.Context(), e, nil); out.Err != nil {
			t.Fatal(out.Err)
		}
	}
	return b.String()
}

// The nearest recorded effect is of the same kind, however similar one of another kind is.
func TestNearestIsOfTheSameKind(t *testing.T) {
	text := records(t, touch(engine.EffectFS, "read", "something else"), touch(engine.EffectHTTP, "read", "a.txt"))
	for name, row := range map[string]struct {
		asked *engine.Effect
		want  string
	}{
		"a file":     {touch(engine.EffectFS, "read", "a.txt"), `the nearest recorded one is fs.read in line 2; it differs in the argument "path"`},
		"a request":  {touch(engine.EffectHTTP, "read", "something else"), `the nearest recorded one is http.read in line 3; it differs in the argument "path"`},
		"a variable": {touch(engine.EffectEnv, "read", "a.txt"), "it holds nothing of this kind"},
	} {
		err := needErr(t, replayer(t, text).Do(t.Context(), row.asked, nil))
		hasAll(t, name, strings.Join(err.Notes, "\n"), row.want)
	}
	model := needErr(t, ask(replayer(t, text), "openai/gpt-5", typed("a.txt")))
	hasAll(t, "a model call", strings.Join(model.Notes, "\n"), "it holds nothing of this kind")
}

// Of equally similar effects, the nearest one is of the same agent, at the same position, and not used.
func TestNearestAmongEqualOnes(t *testing.T) {
	of := func(agent, text string) *engine.Effect {
		e := effect("openai/gpt-5", typed(text))
		e.Agent = agent
		return e
	}
	text, _ := recorded(t, []*engine.Effect{of("other", "question 1"), of("reviewer", "question 2"), of("reviewer", "question 3")}, nil)
	r := replayer(t, text)
	nearest := func(want string) {
		t.Helper()
		err := needErr(t, r.Do(t.Context(), of("reviewer", "question 9"), nil))
		hasAll(t, "notes", strings.Join(err.Notes, "\n"), want)
	}
	nearest(`of agent "reviewer" in line 3`)
	if out := r.Do(t.Context(), of("reviewer", "question 2"), nil); out.Err != nil {
		t.Fatal(out.Err)
	}
	nearest(`of agent "reviewer" in line 4`)
}

// Of two texts, the nearer one has more in common, even if the other one begins with everything that was asked.
func TestNearestText(t *testing.T) {
	text, _ := recorded(t, []*engine.Effect{effect("openai/gpt-5", typed("abc and a lot more")), effect("openai/gpt-5", typed("abx"))}, nil)
	err := needErr(t, ask(replayer(t, text), "openai/gpt-5", typed("abc")))
	hasAll(t, "notes", strings.Join(err.Notes, "\n"), "in line 3", `recorded: "abx"`)
}

// The difference in a tool call is shown, too.
func TestDifferenceOfACall(t *testing.T) {
	called := func(args string) *model.Request {
		return typed("x").Extend(model.Message{Role: model.RoleAssistant, Parts: []model.Part{{Kind: model.PartCall, Call: &model.ToolCall{ID: "c", Name: "f", Args: args}}}})
	}
	text, _ := recorded(t, []*engine.Effect{effect("openai/gpt-5", called(`{"a":1}`))}, nil)
	err := needErr(t, ask(replayer(t, text), "openai/gpt-5", called(`{"a":2}`)))
	hasAll(t, "notes", strings.Join(err.Notes, "\n"), "message 2 (assistant)", "1}", "2}")
}

// Equal requests at positions that were not recorded are answered in the order of the record; what is left over can
// be requested at any time.
func TestEqualRequestsInOrder(t *testing.T) {
	text, outs := recorded(t, []*engine.Effect{effect("openai/gpt-5", typed("x")), effect("openai/gpt-5", typed("x"))}, nil)
	r := replayer(t, strings.ReplaceAll(text, `"agent":"reviewer",`, `"agent":"reviewer","path":"main/agent:reviewer#0/llm0",`))
	for i := range outs {
		if left := r.Unused(); len(left) != 2-i {
			t.Errorf("left %v", left)
		}
		if out := ask(r, "openai/gpt-5", typed("x")); out.Err != nil || shownAll(out) != shownAll(outs[i]) {
			t.Errorf("%s, recorded %s", shownAll(out), shownAll(outs[i]))
		}
	}
}

// A long text is shown around the place where it differs, and no character is cut in two.
func TestDifferenceIsShown(t *testing.T) {
	for name, row := range map[string]struct{ was, is, want string }{
		"at the beginning":   {"a" + strings.Repeat("ä", 100), "b" + strings.Repeat("ä", 100), `recorded: "a` + strings.Repeat("ä", 45) + `…"`},
		"in the middle":      {strings.Repeat("ä", 100) + "x", strings.Repeat("ä", 100) + "y", `recorded: "…` + strings.Repeat("ä", 15) + `x"`},
		"just whole":         {"x" + strings.Repeat("a", 89), "y", `recorded: "x` + strings.Repeat("a", 89) + `"`},
		"one byte too many":  {"x" + strings.Repeat("a", 90), "y", `recorded: "x` + strings.Repeat("a", 89) + `…"`},
		"thirty before it":   {strings.Repeat("a", 30) + "x", strings.Repeat("a", 30) + "y", `recorded: "` + strings.Repeat("a", 30) + `x"`},
		"one more before it": {strings.Repeat("a", 31) + "x", strings.Repeat("a", 31) + "y", `recorded: "…` + strings.Repeat("a", 30) + `x"`},
	} {
		text, _ := recorded(t, []*engine.Effect{effect("openai/gpt-5", typed(row.was))}, nil)
		err := needErr(t, ask(replayer(t, text), "openai/gpt-5", typed(row.is)))
		if notes := strings.Join(err.Notes, "\n"); !strings.Contains(notes, row.want) {
			t.Errorf("%s: %s, want %s", name, notes, row.want)
		}
	}
}

// The number of runs whose calls are counted is limited: with one more, the first is forgotten and counts as new.
func TestCacheForgetsRuns(t *testing.T) {
	for others, asked := range map[int]int{1023: 2, 1024: 1} {
		models := &counted{}
		c, err := cassette.NewCache(t.TempDir(), models, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := func(run string) {
			e := effect("openai/gpt-5", typed("x"))
			e.Run = run
			if out := c.Do(t.Context(), e, nil); out.Err != nil {
				t.Fatal(out.Err)
			}
		}
		call("first")
		for i := range others {
			call(fmt.Sprint("run ", i))
		}
		call("first")
		if models.calls != asked {
			t.Errorf("after %d other runs the model was asked %d times, want %d", others, models.calls, asked)
		}
	}
}
