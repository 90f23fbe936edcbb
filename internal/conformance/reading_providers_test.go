package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/session"
)

// inEvents returns a streamed answer of these pieces.
func inEvents(pieces ...string) string { return "data: " + strings.Join(pieces, "\n\ndata: ") + "\n\n" }

// listening makes a run's answers be streamed.
func listening() agentscript.RunOption {
	return agentscript.OnEvent(engine.EventToken, func(engine.Event) {})
}

// answered runs a script's main against one body, and returns the result as JSON, or the error's code and message.
func answered(t *testing.T, model, src, body string, opts ...agentscript.RunOption) string {
	t.Helper()
	res, _, err := over(t, serving(t, llmtest.Reply{Body: body, Repeat: true}), model, src, opts...)
	var e *engine.Error
	if errors.As(err, &e) {
		return string(e.Code) + ": " + e.Message
	}
	return res.JSON()
}

// Promise 28.13 (reading): empty calls that servers add when they serialize an answer are ignored and hide no real
// call. A stream that is cut off inside a name, and an empty body, are retried.
func TestPromise_28_13_GhostsAndCuts(t *testing.T) {
	const ghost, custom = `"function_call":{"name":"","arguments":""}`, `"custom":{"name":"","input":""}`
	call := `{"index":0,"id":"call_0001","type":"function","function":{"name":"multiply","arguments":"{\"a\":6,\"b\":7}"},` + custom + `}`
	done := `{"choices":[{"message":{"content":"It is 42.",` + ghost + `},"finish_reason":"stop"}]}`
	for name, first := range map[string]string{
		"whole":    `{"choices":[{"message":{"content":"","tool_calls":[` + call + `],` + ghost + `},"finish_reason":"tool_calls"}]}`,
		"streamed": inEvents(`{"choices":[{"delta":{"content":"",`+ghost+`}}]}`, `{"choices":[{"delta":{"tool_calls":[`+call+`],`+ghost+`}}]}`, `{"choices":[{"delta":{`+ghost+`},"finish_reason":"tool_calls"}]}`, "[DONE]"),
	} {
		s := serving(t, llmtest.Reply{Body: first}, llmtest.Reply{Body: done})
		res, bodies, err := over(t, s, "compat/m", multiplies+`main = agent(prompt = "Use the tool.", tools = [multiply])`, listening())
		if err != nil || res.JSON() != `"It is 42."` || len(bodies) != 2 || !strings.Contains(bodies[1], `"content":"42","tool_call_id":"call_0001"`) {
			t.Errorf("%s: %s, %v, %q", name, res.JSON(), err, bodies)
		}
	}

	part := map[string]string{
		"openai": `{"choices":[{"delta":{"content":"a part"}}]}`, "google": `{"candidates":[{"content":{"parts":[{"text":"a part"}]}}]}`,
		"anthropic": `{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
	}
	again := llm.WithRetry(llm.RetryPolicy{Attempts: 2, First: time.Millisecond, Most: time.Millisecond, AfterTokens: true})
	for provider, body := range part {
		for _, cut := range []string{"d", "dat", "eve", "event", "i", "retr"} {
			broken := llmtest.Reply{Body: inEvents(body) + cut, Type: "text/event-stream"}
			retried(t, provider, cut, serving(t, broken, llmtest.Reply{Text: "all of it"}), again)
		}
	}
	for _, m := range everyModel {
		provider, _, _ := strings.Cut(m, "/")
		retried(t, provider, "an empty body", serving(t, llmtest.Reply{Body: " \n"}, llmtest.Reply{Text: "all of it"}), again)
	}
}

// retried runs an agent whose first answer is broken and whose second one is complete.
func retried(t *testing.T, provider, what string, s *llmtest.Server, again llm.Option) {
	t.Helper()
	m := everyModel[slices.IndexFunc(everyModel, func(m string) bool { return strings.HasPrefix(m, provider+"/") })]
	mod := loaded(t, agentscript.New(agentscript.WithModels(allProviders(t, s, again)), agentscript.WithDefaultModel(m)), judges)
	res, err := mod.Start(t.Context(), input("x"), listening()).Wait()
	if err != nil || res.JSON() != `"all of it"` || len(s.Requests()) != 2 {
		t.Errorf("%s, %s: %s after %d requests, %v", provider, what, res.JSON(), len(s.Requests()), err)
	}
}

// Promise 28.14 (reading): an answer of media alone, and an empty answer where no call was allowed, are valid answers.
// A missing call is an error.
func TestPromise_28_14_EmptyAnswers(t *testing.T) {
	const says, draws = `main = agent(output = Audio, prompt = "Say it.")`, `main = agent(output = Image, prompt = "Draw it.")`
	const png = `{"url":"data:image/png;base64,QUJD","mime":"image/png"}`
	for _, row := range []struct{ model, src, body, want string }{
		{"openai/gpt-audio", says, `{"choices":[{"message":{"content":null,"audio":{"id":"audio_1","data":"UklGRg==","expires_at":1729018505,"transcript":""}},"finish_reason":"stop"}]}`, `{"url":"data:audio/wav;base64,UklGRg==","mime":"audio/wav","transcript":""}`},
		{"openai/gpt-audio", says, inEvents(`{"choices":[{"delta":{"role":"assistant","audio":{"id":"audio_1","transcript":"Good "}}}]}`, `{"choices":[{"delta":{"audio":{"data":"AQI=","transcript":"day."}}}]}`, `{"choices":[{"delta":{"audio":{"data":"AwQ="}}}]}`, `{"choices":[{"delta":{"audio":{"expires_at":1729018505}},"finish_reason":"stop"}]}`, "[DONE]"),
			`{"url":"data:audio/pcm;rate=24000;base64,AQIDBA==","mime":"audio/pcm;rate=24000","transcript":"Good day."}`},
		{"google/gemini-2.5-flash-preview-tts", says, `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;codec=pcm;rate=24000","data":"AQI="}}]},"finishReason":"STOP"}]}`, `{"url":"data:audio/L16;codec=pcm;rate=24000;base64,AQI=","mime":"audio/L16;codec=pcm;rate=24000","transcript":""}`},
		{"openai/gpt-audio", `main = agent(prompt = "Say it.")`, `{"choices":[{"message":{"content":null,"audio":{"id":"audio_1","data":"UklGRg==","transcript":"Good day."}},"finish_reason":"stop"}]}`, `"Good day."`},
		{"google/gemini-2.5-flash-image", draws, `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]},"finishReason":"STOP"}]}`, png},
		{"openrouter/x/y", draws, `{"choices":[{"message":{"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},"finish_reason":"stop"}]}`, `{"url":"data:image/png;base64,QUJD","mime":""}`},
		{"google/gemini-2.5-flash-preview-tts", `main = agent(prompt = "Say it.")`, `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/wav","data":"AQI="}}]},"finishReason":"STOP"}]}`,
			`AS706: the answer to agent "main" is one sound and no text, and its output is str`},
	} {
		if got := answered(t, row.model, row.src, row.body); got != row.want {
			t.Errorf("%s, %s: %s, want %s", row.model, row.src, got, row.want)
		}
	}
	// Speech is passed on as its words, and no schema requests it.
	_, bodies, err := over(t, serving(t, llmtest.Reply{Body: `{"choices":[{"message":{"content":null,"audio":{"data":"UklGRg==","transcript":"Good day."}},"finish_reason":"stop"}]}`}, llmtest.Reply{Text: "Hm."}), "openai/gpt-audio",
		`main = agent(name = "speaker", output = Audio, prompt = "Say it.") >> agent(name = "listener", input = Audio, prompt = "Judge.")`)
	if err != nil || len(bodies) != 2 || strings.Contains(bodies[0], "schema") || !strings.Contains(bodies[1], "Good day.") || strings.Contains(bodies[1], "UklGRg") {
		t.Errorf("%v: %q", err, bodies)
	}

	nothing := map[string]string{
		"openai": `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`, "google": `{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}]}`,
		"anthropic": `{"type":"message","role":"assistant","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, "ollama": `{"message":{"content":""},"done":true,"done_reason":"stop"}`,
	}
	missing := map[string]string{
		"openai":    `{"choices":[{"message":{"content":"I look it up."},"finish_reason":"tool_calls"}]}`,
		"anthropic": `{"type":"message","role":"assistant","content":[{"type":"text","text":"I look it up."}],"stop_reason":"tool_use"}`,
	}
	for _, m := range everyModel {
		provider, _, _ := strings.Cut(m, "/")
		body := nothing[provider]
		if body == "" {
			body = nothing["openai"]
		}
		if got := answered(t, m, multiplies+`main = agent(prompt = "A.", tools = [multiply], tool_choice = "none")`, body); got != `""` {
			t.Errorf("%s may call nothing and says nothing: %s", m, got)
		}
		if got := answered(t, m, multiplies+`main = agent(prompt = "A.", tools = [multiply])`, body); !strings.Contains(got, "the answer is empty") {
			t.Errorf("%s says nothing: %s", m, got)
		}
		if body = missing[provider]; body == "" && nothing[provider] == "" {
			body = missing["openai"]
		}
		if body == "" {
			continue // its answers have no representation of a call
		}
		if got := answered(t, m, multiplies+`main = agent(prompt = "A.", tools = [multiply])`, body); !strings.Contains(got, "says that it calls tools, and holds no call") {
			t.Errorf("%s says that it calls: %s", m, got)
		}
	}
}

// Speech is kept in a session only as its words.
func TestSoundsInSessions(t *testing.T) {
	aloud := func(transcript string) llmtest.Reply {
		return llmtest.Reply{Body: `{"choices":[{"message":{"content":null,"audio":{"id":"audio_1","data":"UklGRg==","transcript":"` + transcript + `"}},"finish_reason":"stop"}]}`}
	}
	s := serving(t, aloud("Good day."), aloud(""), aloud("Bye."))
	mod := loaded(t, agentscript.New(agentscript.WithModels(allProviders(t, s)), agentscript.WithDefaultModel("openai/gpt-audio")), `main = agent(output = Audio, prompt = "Say it.", history = "shared")`)
	var kept session.Memory
	for _, turn := range []string{"one", "two", "three"} {
		if _, err := mod.Start(t.Context(), input(turn), agentscript.Session(&kept, "s")).Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if body := string(s.Requests()[2].Body); strings.Contains(body, "UklGRg") || !inOrder(body, "one", `"Good day."`, "two", `"(this was said aloud)"`, "three") {
		t.Error(body)
	}
}

// inOrder reports whether a text contains others in their order.
func inOrder(body string, texts ...string) bool {
	for _, text := range texts {
		_, rest, found := strings.Cut(body, text)
		if !found {
			return false
		}
		body = rest
	}
	return true
}

// Promise 28.15 (reading): texts and pictures keep their order for every provider, pictures of tools reach the
// providers that accept them, and strict tools and system texts are sent where they belong.
func TestPromise_28_15_RequestsInOrder(t *testing.T) {
	text := func(s string) model.Part { return model.Part{Kind: model.PartText, Text: s} }
	picture := func(data string) model.Part {
		return model.Part{Kind: model.PartImage, Image: &model.Image{URL: "data:image/png;base64," + data}}
	}
	mixed := &model.Request{System: "Be brief.", Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{picture("QUFB"), text("the first"), text("the second:"), picture("QkJC"), text("which is larger?")}}}}
	for _, m := range append([]string{"openai/o1", "openai/o3", "openai/o3-mini"}, everyModel...) {
		s := serving(t, llmtest.Reply{Text: "ok"})
		if out := allProviders(t, s).Do(t.Context(), &engine.Effect{Kind: engine.EffectModel, Name: m, Req: mixed}, nil); out.Err != nil {
			t.Errorf("%s: %v", m, out.Err)
			continue
		}
		body := string(s.Requests()[0].Body)
		if strings.HasPrefix(m, "ollama/") {
			// The server puts the pictures of a message before its text, so each message is read that way.
			var sent struct {
				Messages []struct {
					Content string
					Images  []string
				}
			}
			if err := json.Unmarshal([]byte(body), &sent); err != nil {
				t.Fatal(err)
			}
			body = ""
			for _, message := range sent.Messages {
				body += strings.Join(message.Images, "\n") + "\n" + message.Content + "\n"
			}
		}
		if !inOrder(body, "QUFB", "the first", "the second:", "QkJC", "which is larger?") {
			t.Errorf("%s is sent another order: %s", m, body)
		}
		system := `{"role":"system","content":"Be brief."}`
		switch {
		case strings.HasPrefix(m, "anthropic/"):
			system = `"system":`
		case strings.HasPrefix(m, "google/"):
			system = `"systemInstruction":`
		case strings.HasPrefix(m, "ollama/"):
			system = "Be brief."
		}
		if !inOrder(body, system) || strings.Count(body, "Be brief.") != 1 {
			t.Errorf("%s is sent no system text of its own: %s", m, body)
		}
	}

	const shoots = `
def shoot(url = str):
    """Takes a picture.

    Args:
      url: of what
    """
    return [image("data:image/png;base64,QUFB")]
main = agent(prompt = "Look.", tools = [shoot])
`
	inside := map[string]bool{"anthropic/claude-sonnet-4-6": true, "google/gemini-3-flash-preview": true}
	for _, m := range append([]string{"google/gemini-2.5-flash"}, everyModel...) {
		s := serving(t, llmtest.Reply{Calls: []llmtest.Call{{ID: "call_0001", Name: "shoot", Args: `{"url":"u"}`}}}, llmtest.Reply{Text: "A cat."})
		_, bodies, err := over(t, s, m, shoots)
		if err != nil || len(bodies) != 2 {
			t.Errorf("%s: %v, %q", m, err, bodies)
			continue
		}
		var sent struct {
			Messages, Contents []map[string]any
		}
		if err := json.Unmarshal([]byte(bodies[1]), &sent); err != nil {
			t.Fatal(err)
		}
		held := false
		for _, turn := range append(sent.Messages, sent.Contents...) {
			data, err := json.Marshal(turn)
			if err != nil {
				t.Fatal(err)
			}
			result := strings.Contains(string(data), "tool_result") || strings.Contains(string(data), "functionResponse")
			held = held || result && strings.Contains(string(data), "QUFB")
		}
		if held != inside[m] || strings.Count(bodies[1], "QUFB") != 1 {
			t.Errorf("%s: inside the result %v, want %v: %s", m, held, inside[m], bodies[1])
		}
	}

	for _, m := range everyModel {
		_, bodies, err := over(t, serving(t, llmtest.Reply{Text: "ok"}), m, multiplies+`main = agent(prompt = "A.", tools = [multiply])`)
		if err != nil {
			t.Fatal(err)
		}
		provider, _, _ := strings.Cut(m, "/")
		if want := slices.Contains([]string{"openai", "openrouter", "mistral", "anthropic"}, provider); strings.Contains(bodies[0], `"strict":true`) != want {
			t.Errorf("%s: strict %v, want %v: %s", m, !want, want, bodies[0])
		}
	}
}

// Promise 28.16 (reading): citations and sources of answers are kept: in the response, in an event and in what the
// script can read.
func TestPromise_28_16_Citations(t *testing.T) {
	const src = `
def cited(call, answer):
    return substitute("; ".join([c.title + "|" + c.url + "|" + c.source + "|" + c.quote + "|" + c.text for c in answer.citations]))
main = agent(prompt = "A.", hooks = hooks(after_model = cited))
`
	for file, row := range map[string]struct{ model, want string }{
		"openai":     {"openai/gpt-5-mini", "A page|https://example.org/a|||Größe: 3 km."},
		"anthropic":  {"anthropic/claude-sonnet-4-6", "Colors||file_1|The grass is green.|the grass is green; Claude Shannon|https://example.org/shannon||Claude Shannon (April 30, 1916)| and Shannon was born in 1916.; Note 7||https://example.com/kb/7|born 1916| and Shannon was born in 1916."},
		"google":     {"google/gemini-3-flash-preview", "example.org|https://example.org/a|||Spain won Euro 2024.; example.org|https://example.org/a|||It beat England.; c.pdf|gs://b/c.pdf||England lost.|It beat England.; unused|https://example.org/unused|||"},
		"mistral":    {"mistral/mistral-small", "||0||; ||doc-2||"},
		"perplexity": {"openrouter/x/y", "A page|https://example.org/a||The words of A.|; |https://example.org/b|||"},
	} {
		for _, ext := range []string{".json", ".sse"} {
			body, err := os.ReadFile(repository("engine/llm/testdata/citations/" + file + ext))
			if err != nil {
				t.Fatal(err)
			}
			var told []string
			var kept int
			opts := []agentscript.RunOption{agentscript.OnEvent(engine.EventCitation|engine.EventEffect, func(e engine.Event) {
				switch d := e.Data.(type) {
				case *event.Citation:
					c := d.Citation
					told = append(told, strings.Join([]string{c.Title, c.URL, c.Source, c.Quote, c.Text}, "|"))
				case *event.Effect:
					if d.Response != nil {
						kept = len(d.Response.Citations)
					}
				}
			})}
			if ext == ".sse" {
				opts = append(opts, listening())
			}
			want, err := json.Marshal(row.want)
			if err != nil {
				t.Fatal(err)
			}
			if got := answered(t, row.model, src, string(body), opts...); got != string(want) {
				t.Errorf("%s%s: the script sees %s", file, ext, got)
			}
			if got := strings.Join(told, "; "); got != row.want || kept != len(told) {
				t.Errorf("%s%s: events %s, and %d in the response", file, ext, got, kept)
			}
		}
	}
}

// Promise 28.17 (reading): one table for each provider defines the meaning of its errors.
func TestPromise_28_17_Wordings(t *testing.T) {
	data, err := os.ReadFile(repository("engine/llm/testdata/refusals.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	reached := map[string]string{"azure": "openai"}
	for _, m := range everyModel {
		provider, _, _ := strings.Cut(m, "/")
		reached[provider] = provider
	}
	bodies := 0
	for line := range strings.Lines(string(data)) {
		var r struct {
			Provider, Kind, Exception, Body string
			Status                          int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		provider := reached[r.Provider]
		if provider == "" {
			provider = "compat" // a server that may be any
		}
		m := everyModel[slices.IndexFunc(everyModel, func(m string) bool { return strings.HasPrefix(m, provider+"/") })]
		s := serving(t, llmtest.Reply{Status: r.Status, Body: r.Body, Header: map[string]string{"X-Amzn-Errortype": r.Exception}})
		e := callFails(t, m, allProviders(t, s))
		if string(e.Kind) != r.Kind || e.Model == nil || e.Model.Status != r.Status {
			t.Errorf("%s: %d %s: %s, want %s", m, r.Status, r.Body, e.Kind, r.Kind)
		}
		bodies++
	}
	if bodies < 130 {
		t.Errorf("only %d bodies", bodies)
	}
	// The wordings of one provider are recognized for all, since one server passes on what another says; its status
	// codes are its own.
	for wording, kind := range map[string]engine.ErrKind{
		"Number of input tokens exceeds maximum length: 8192": engine.KindContextLength, "The total length of all messages is too long": engine.KindContextLength,
		"This model doesn't support pictures": engine.KindUnsupported, "'top_p' is not supported with this model.": engine.KindUnsupported,
	} {
		for _, m := range everyModel {
			s := serving(t, llmtest.Reply{Status: 400, Body: fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, wording)})
			if e := callFails(t, m, allProviders(t, s)); e.Kind != kind {
				t.Errorf("%s: %s is %s", m, wording, e.Kind)
			}
		}
	}
	for m, kind := range map[string]engine.ErrKind{"compat/m": engine.KindQuota, "openrouter/x/y": engine.KindQuota, "mistral/mistral-small": engine.KindRateLimit, "openai/gpt-5-mini": engine.KindRateLimit} {
		if e := callFails(t, m, allProviders(t, serving(t, llmtest.Reply{Status: 429, Body: `{"error":{"code":"1113","message":"m"}}`}))); e.Kind != kind {
			t.Errorf("%s: 1113 is %s", m, e.Kind)
		}
	}
}
