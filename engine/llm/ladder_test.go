package llm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

func refusal(status int, message string) llmtest.Reply {
	return llmtest.Reply{Status: status, Body: `{"error":{"message":"` + message + `","type":"invalid_request_error"}}`}
}

// hold returns how the nth request holds the model to its types.
func hold(t *testing.T, s *llmtest.Server, n int) string {
	t.Helper()
	body, err := s.Requests()[n].JSON()
	if err != nil {
		t.Fatal(err)
	}
	how := "prompt"
	if f, ok := body["response_format"].(map[string]any); ok {
		how, _ = f["type"].(string)
	}
	if tools, ok := body["tools"].([]any); ok {
		if strict, _ := tools[0].(map[string]any)["function"].(map[string]any)["strict"].(bool); strict {
			return how + ", strict tools"
		}
		return how + ", tools"
	}
	return how
}

// TestLadder: if a provider turns out to reject a schema, the call is repeated in a form that it may accept, once for
// each model and type.
func TestLadder(t *testing.T) {
	ok := llmtest.Reply{Text: `{"ok":true,"score":1}`}
	for name, row := range map[string]struct {
		model   string
		system  string
		tools   []model.ToolDef
		replies []llmtest.Reply
		want    []string // of the first call's requests
		then    string   // of the second call's
	}{
		"to JSON mode":            {"compat/m", "Answer in JSON.", nil, []llmtest.Reply{refusal(400, "This response_format type is unavailable now"), ok, ok}, []string{"json_schema", "json_object"}, "json_object"},
		"to the prompt":           {"compat/m", "Answer in JSON.", nil, []llmtest.Reply{refusal(422, "unknown response_format json_schema"), refusal(400, "json_object is not supported"), ok, ok}, []string{"json_schema", "json_object", "prompt"}, "prompt"},
		"no word of JSON":         {"openai/gpt-5", "", nil, []llmtest.Reply{refusal(400, "Invalid schema for response_format 'Verdict'"), ok, ok}, []string{"json_schema", "prompt"}, "prompt"},
		"tools that are strict":   {"openai/gpt-5", "", tools(), []llmtest.Reply{refusal(400, "Invalid schema for function 'compile': strict"), ok, ok}, []string{"json_schema, strict tools", "json_schema, tools"}, "json_schema, tools"},
		"a refusal of other sort": {"openai/gpt-5", "", nil, []llmtest.Reply{refusal(400, "max_completion_tokens is too large")}, []string{"json_schema"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, row.replies...)
			r := port(t, s)
			req := prompt("x")
			req.System, req.Tools, req.Output = row.system, row.tools, &model.Output{Type: verdict()}
			e := effect(row.model, req)
			e.Stream = true
			retries := 0
			out := r.Do(t.Context(), e, func(tok engine.Token) {
				if tok.Retry != nil {
					retries++
				}
			})
			if row.then == "" {
				needErr(t, out)
			} else {
				need(t, out)
			}
			if got := len(s.Requests()); got != len(row.want) || retries != got-1 {
				t.Fatalf("%d requests, %d told", got, retries)
			}
			for i, want := range row.want {
				if got := hold(t, s, i); got != want {
					t.Errorf("request %d: %s, want %s", i, got, want)
				}
			}
			if row.then == "" {
				return
			}
			need(t, ask(r, row.model, req))
			if got := hold(t, s, len(row.want)); got != row.then {
				t.Errorf("the next call: %s, want %s", got, row.then)
			}
		})
	}
}

// A script that requires a schema gets nothing less, and another type starts at the top.
func TestLadderIsOfOneType(t *testing.T) {
	s := server(t, refusal(400, "response_format is unavailable"), refusal(400, "response_format is unavailable"), llmtest.Reply{Text: "{}"}, llmtest.Reply{Text: "[1]"})
	r := port(t, s)
	req := prompt("x")
	req.Output = &model.Output{Type: verdict(), Structured: model.StructuredConstrained}
	if err := needErr(t, ask(r, "compat/m", req)); err.Kind != engine.KindUnsupported {
		t.Errorf("kind %s", err.Kind)
	}
	free := prompt("x")
	free.Output = &model.Output{Type: verdict()}
	need(t, ask(r, "compat/m", free))
	other := prompt("x")
	other.Output = &model.Output{Type: generable.ListOfType(generable.IntT)}
	need(t, ask(r, "compat/m", other))
	if got := hold(t, s, 3); got != "json_schema" {
		t.Errorf("another type: %s", got)
	}
}

// Reports of the ladder are not tokens: a call that then fails with a transient error is still retried.
func TestLadderThenRetry(t *testing.T) {
	s := server(t, refusal(400, "response_format is unavailable"), llmtest.Reply{Status: 503}, llmtest.Reply{Text: `{"ok":true,"score":1}`})
	req := prompt("x")
	req.Output = &model.Output{Type: verdict()}
	e := effect("compat/m", req)
	e.Stream = true
	var told []string
	out := port(t, s, llm.WithRetry(llm.RetryPolicy{Attempts: 2, First: time.Millisecond})).Do(t.Context(), e, func(tok engine.Token) {
		if tok.Retry != nil {
			told = append(told, string(tok.Retry.Err.Kind))
		}
	})
	if out.Err != nil || out.Attempt != 2 {
		t.Fatal(out.Err, out.Attempt)
	}
	if got := strings.Join(told, " "); got != "unsupported overloaded" || len(s.Requests()) != 3 {
		t.Errorf("told %q over %d requests", got, len(s.Requests()))
	}
}

// TestLadderLeavesTheForm: in JSON mode the answer has the type's own form.
func TestLadderLeavesTheForm(t *testing.T) {
	counts := &generable.Type{Kind: generable.RecordType, Name: "Counts", Fields: []generable.Field{{Name: "of", Type: generable.DictOfType(generable.IntT)}}}
	req := prompt("x")
	req.System, req.Output = "Answer in JSON.", &model.Output{Type: counts}
	held := need(t, ask(port(t, server(t, llmtest.Reply{Text: `{"of":[{"key":"a","value":1}]}`})), "openai/gpt-5", req))
	if held.Dialect != "openai" {
		t.Fatalf("an answer to the schema has the form of %q", held.Dialect)
	}
	s := server(t, refusal(400, "Invalid schema for response_format"), llmtest.Reply{Text: `{"of":{"a":1}}`})
	if free := need(t, ask(port(t, s), "openai/gpt-5", req)); free.Dialect != "" || hold(t, s, 1) != "json_object" {
		t.Errorf("an answer in JSON mode has the form of %q", free.Dialect)
	}
	const alone = `"content":"Answer in JSON."`
	if first, second := string(s.Requests()[0].Body), string(s.Requests()[1].Body); strings.Contains(first, alone) || !strings.Contains(second, alone) {
		t.Errorf("the form is explained where it does not hold: %s", second)
	}
}
