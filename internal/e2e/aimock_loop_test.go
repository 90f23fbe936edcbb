//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
)

// worker is a flow whose agent has tools that answer, fail and take no arguments.
const worker = `
"""Looks words up."""

def lookup(word = str):
    """Looks a word up."""
    return "%s has %d letters" % (word, len(word))

def now():
    """The time."""
    return "noon"

def fetch(word = str):
    """Fetches a word from the shelf."""
    fail("the shelf of " + word + " is empty")

main = agent(prompt = "Look it up.", tools = [lookup, now, fetch], budget = budget(turns = 4, tool_calls = 400))
`

// heard is a request as aimock reads it: it writes the requests of all wire formats in one form.
type heard struct {
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
		CallID  string  `json:"tool_call_id"`
		Calls   []struct {
			ID       string `json:"id"`
			Function struct {
				Name string `json:"name"`
				Args string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []json.RawMessage `json:"tools"`
}

// content is the text of a message, or its parts as written.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		text = string(data)
	}
	*c = content(text)
	return nil
}

// turn runs a flow on a model and returns its text and the requests that arrived for it.
func turn(t *testing.T, base, model, script, input string, stream bool) (string, []heard, error) {
	t.Helper()
	before := len(journal(t, base))
	mod := flow(t, port(t, base, quick()...), model, script)
	opts := []agentscript.RunOption{agentscript.InputText(input)}
	if stream {
		opts = append(opts, agentscript.OnEvent(engine.EventToken, func(engine.Event) {}))
	}
	res, err := mod.Start(t.Context(), opts...).Wait()
	var requests []heard
	for _, s := range journal(t, base)[before:] {
		var h heard
		if err := json.Unmarshal(s.Body, &h); err != nil {
			t.Fatalf("%s: %v", s.Body, err)
		}
		requests = append(requests, h)
	}
	text := ""
	if err == nil {
		text = res.Text()
	}
	return text, requests, err
}

// results checks that the last request contains one answer with calls, followed directly by one result for each, in
// order, and returns their texts.
func results(t *testing.T, model string, h heard) (said string, texts []string) {
	t.Helper()
	for i, m := range h.Messages {
		if len(m.Calls) == 0 {
			continue
		}
		said = string(m.Content)
		if len(h.Messages) < i+1+len(m.Calls) {
			t.Fatalf("%d calls, and %d messages behind them", len(m.Calls), len(h.Messages)-i-1)
		}
		for j, c := range m.Calls {
			r := h.Messages[i+1+j]
			if r.Role != "tool" || r.CallID != c.ID && !strings.HasPrefix(model, "ollama/") { // its calls have no ids for aimock
				t.Errorf("call %d is %+v, and its result %+v", j, c, r)
			}
			texts = append(texts, string(r.Content))
		}
	}
	return said, texts
}

// TestAimockLoop runs an agent's loop on the wire format of each provider; aimock's journal shows what arrived.
func TestAimockLoop(t *testing.T) {
	whole, cut := mock(t, "-c", "5"), mockOf(t, "testdata/cut.json")
	for _, row := range []struct {
		name, input string
		said        string     // next to the calls
		want        [][]string // in the results, in order
	}{
		{"parallel calls, results in order", "three lookups", "", [][]string{{"größe has 7"}, {"noon"}, {"ab has 2 letters"}}},
		{"text beside calls", "talk and look", "Let me see — größer.", [][]string{{"ab has 2 letters"}}},
		{"a tool that fails", "fetch it", "", [][]string{{"the shelf of ab is empty"}, {"noon"}}},
		{"an invented tool", "invent one", "", [][]string{{"frobnicate", "lookup", "now"}, {"noon"}}},
		{"arguments that are cut off", "cut arguments", "", [][]string{{"bad arguments"}, {"noon"}}},
		{"arguments of the wrong type", "wrong arguments", "", [][]string{{"bad arguments", "word"}}},
	} {
		base := whole
		if row.input == "cut arguments" {
			base = cut
		}
		t.Run(row.name, func(t *testing.T) {
			each(t, func(t *testing.T, model string, stream bool) {
				text, requests, err := turn(t, base, model, worker, row.input, stream)
				if err != nil {
					t.Fatal(err)
				}
				if text != "Done: "+row.input || len(requests) != 2 {
					t.Fatalf("%q after %d requests", text, len(requests))
				}
				said, texts := results(t, model, requests[1])
				if said != row.said || len(texts) != len(row.want) {
					t.Fatalf("said %q, results %q", said, texts)
				}
				for i, want := range row.want {
					for _, part := range want {
						if !strings.Contains(texts[i], part) {
							t.Errorf("result %d lacks %q: %s", i, part, texts[i])
						}
					}
				}
			})
		})
	}
}

// TestAimockCutCalls checks that arguments cut off by the token limit are not an answer, on the wire formats with
// textual arguments.
func TestAimockCutCalls(t *testing.T) {
	base := mockOf(t, "testdata/cut.json")
	for _, model := range []string{"openai/gpt-5", "openrouter/x/y"} {
		for _, stream := range []bool{false, true} {
			_, requests, err := turn(t, base, model, worker, "limit in a call", stream)
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != engine.KindTruncated || len(requests) != 1 {
				t.Errorf("%s: %v after %d requests", model, err, len(requests))
			}
		}
	}
}

// TestAimockManyCalls makes 200 calls in one answer, on each wire format.
func TestAimockManyCalls(t *testing.T) {
	type call struct {
		Name string            `json:"name"`
		Args map[string]string `json:"arguments"`
		ID   string            `json:"id"`
	}
	const many = 200
	var calls []call
	for i := range many {
		calls = append(calls, call{"lookup", map[string]string{"word": fmt.Sprintf("w%03d", i)}, fmt.Sprintf("call_%03d", i)})
	}
	fixtures := filepath.Join(t.TempDir(), "many.json")
	data, err := json.Marshal(map[string]any{"fixtures": []any{
		map[string]any{"match": map[string]any{"userMessage": "many", "hasToolResult": true}, "response": map[string]any{"content": "All done."}},
		map[string]any{"match": map[string]any{"userMessage": "many"}, "response": map[string]any{"toolCalls": calls}},
	}})
	if err == nil {
		err = os.WriteFile(fixtures, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	base := mockOf(t, fixtures)
	each(t, func(t *testing.T, model string, stream bool) {
		text, requests, err := turn(t, base, model, worker, "many", stream)
		if err != nil || text != "All done." || len(requests) != 2 {
			t.Fatalf("%q, %v after %d requests", text, err, len(requests))
		}
		_, texts := results(t, model, requests[1])
		if len(texts) != many {
			t.Fatalf("%d results", len(texts))
		}
		for i, got := range texts {
			if want := fmt.Sprintf("w%03d has 4 letters", i); !strings.Contains(got, want) {
				t.Fatalf("result %d is %q", i, got)
			}
		}
	})
}

// TestAimockErrorMark checks that results that are errors are marked on the wire formats that have a mark, and on no
// other.
func TestAimockErrorMark(t *testing.T) {
	base, sent := tap(t, mock(t))
	for model, mark := range map[string]string{"anthropic/claude-sonnet-4-5": `"is_error":true`, "google/gemini-2.5-flash": `"response":{"error":`} {
		for input, want := range map[string]int{"fetch it": 1, "three lookups": 0} {
			if _, _, err := turn(t, base, model, worker, input, false); err != nil {
				t.Fatal(err)
			}
			bodies := sent()
			if last := string(bodies[len(bodies)-1]); strings.Count(last, mark) != want {
				t.Errorf("%s: %s", model, last)
			}
		}
	}
}

// TestAimockLastAnswer checks that at the limit the model is called once more, and may call nothing.
func TestAimockLastAnswer(t *testing.T) {
	base, sent := tap(t, mock(t))
	script := strings.Replace(worker, "turns = 4, tool_calls = 400", `turns = 3, on_limit = "answer"`, 1)
	each(t, func(t *testing.T, model string, stream bool) {
		before := len(sent())
		text, requests, err := turn(t, base, model, script, "look for ever", stream)
		if err != nil || text != "With what I have: enough." || len(requests) != 3 {
			t.Fatalf("%q, %v after %d requests", text, err, len(requests))
		}
		bodies := sent()[before:]
		for i, want := range []string{auto, auto, none} {
			if got := choice(t, model, bodies[i]); got != want {
				t.Errorf("turn %d: %s, want %s: %s", i, got, want, bodies[i])
			}
		}
	})
}

// TestAimockChoice checks that a model that must call a tool is free once it has; if the wire format cannot express
// that it must, nothing is sent.
func TestAimockChoice(t *testing.T) {
	base, sent := tap(t, mock(t))
	for word, want := range map[string]string{"required": required, "lookup": required + " lookup", "none": none} {
		script := strings.Replace(worker, "budget = budget(", `tool_choice = "`+word+`", budget = budget(`, 1)
		each(t, func(t *testing.T, model string, stream bool) {
			before := len(sent())
			text, _, err := turn(t, base, model, script, "talk and look", stream)
			bodies := sent()[before:]
			if strings.HasPrefix(model, "ollama/") && word != "none" {
				var e *engine.Error
				if !errors.As(err, &e) || e.Kind != engine.KindUnsupported || len(bodies) != 0 {
					t.Errorf("%s: %v after %d requests", word, err, len(bodies))
				}
				return
			}
			if len(bodies) == 0 || choice(t, model, bodies[0]) != want {
				t.Fatalf("%s: %v after %s", word, err, bodies)
			}
			if word == "none" {
				return // the mock calls nevertheless
			}
			if err != nil || text != "Done: talk and look" || len(bodies) != 2 || choice(t, model, bodies[1]) != auto {
				t.Errorf("%s: %q, %v after %s", word, text, err, bodies)
			}
		})
	}
}

// photographer is a flow whose agent has a tool that returns a picture and others that return text.
const photographer = `
"""Looks at things."""

def shot(of = str):
    """Takes a picture."""
    return [of, image("data:image/png;base64,iVBORw0KGgo=")]

def now():
    """The time."""
    return "noon"

main = agent(prompt = "Look at it.", tools = [shot, now])
`

// TestAimockPictures checks that a tool's picture arrives inside its result if the provider accepts it there, and
// otherwise after all results, in each wire format. For Ollama it is a separate message with an empty text.
func TestAimockPictures(t *testing.T) {
	base, sent := tap(t, mock(t))
	written := map[string]string{
		"anthropic": `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`,
		"google":    `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}`,
		"ollama":    `"images":["iVBORw0KGgo="]`,
		"":          `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}`,
	}
	each(t, func(t *testing.T, model string, stream bool) {
		text, requests, err := turn(t, base, model, photographer, "take a picture", stream)
		if err != nil || text != "Done: a picture" || len(requests) != 2 {
			t.Fatalf("%q, %v after %d requests", text, err, len(requests))
		}
		provider, _, _ := strings.Cut(model, "/")
		want, ok := written[provider]
		if !ok {
			want = written[""]
		}
		bodies := sent()
		last := string(bodies[len(bodies)-1])
		at, result, others := strings.Index(last, want), strings.Index(last, "[image 1]"), strings.Index(last, "noon")
		if inside := provider == "anthropic"; strings.Count(last, "iVBORw0KGgo=") != 1 || at < result || inside == (at > others) {
			t.Errorf("the picture is not where it belongs: %s", last)
		}
	})
}
