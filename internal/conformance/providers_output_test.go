package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

const mails = `
Mail = schema("A mail", kind = str, spam = bool, tags = field(list[str], default = []), why = field(str, default = ""))
main = agent(name = "sorter", output = Mail, prompt = "Sort the mail.", enough = %s)
`

// Promise 17.14 (real models): text, thoughts, parts of calls and the known parts of a typed answer reach a host's
// callback, its channel of events, and the command's JSON lines.
func TestPromise_17_14_Streaming(t *testing.T) {
	answer := llmtest.Reply{Reasoning: "hm", Text: `{"kind": "ad", "spam": true, "tags": ["a", "b"], "why": "it sells"}`, In: 3, Out: 4, ByRunes: true}
	src := fmt.Sprintf(mails, "None")
	want := []string{`.kind "ad"`, `.spam true`, `.tags[0] "a"`, `.tags[1] "b"`, `.why "it sells"`}
	for _, model := range everyModel {
		s := serving(t, answer, answer)
		mod := loaded(t, agentscript.New(agentscript.WithModels(allProviders(t, s)), agentscript.WithDefaultModel(model)), src)
		gather := func(e engine.Event, known, text, thought *string) {
			partial, _ := e.Data.(*event.Partial)
			token, _ := e.Data.(*event.Token)
			switch {
			case partial != nil && partial.Value != nil:
				*known += partial.Field + " " + generable.JSON(*partial.Value, nil) + "\n"
			case token != nil && token.Reasoning:
				*thought += e.Text()
			case e.Kind == engine.EventToken:
				*text += e.Text()
			}
		}
		var known, text, thought string
		_, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventPartial|engine.EventToken, func(e engine.Event) { gather(e, &known, &text, &thought) })).Wait()
		var known2, text2, thought2 string
		run := mod.Start(t.Context(), input("x"), agentscript.Watch(engine.EventPartial|engine.EventToken))
		for e := range run.Events() {
			gather(e, &known2, &text2, &thought2)
		}
		_, err2 := run.Wait()
		if err != nil || err2 != nil || text != answer.Text || thought != "hm" || known != known2 || text != text2 || thought != thought2 {
			t.Errorf("%s: %v, %v: %q %q, %q %q", model, err, err2, text, thought, text2, thought2)
		}
		for _, w := range want {
			if !strings.Contains(known, w+"\n") {
				t.Errorf("%s: no %s in\n%s", model, w, known)
			}
		}
	}
	s := serving(t, answer)
	out := runCommand(t, []string{"OPENAI_API_KEY=k-of-openai", "OPENAI_BASE_URL=" + s.OpenAI()}, "run", "--json", "--model", "openai/m", file(t, "m.star", src), "x")
	for _, w := range []string{`"kind":"token"`, `"kind":"partial"`, `"reasoning":true`, `"field":".tags[1]"`} {
		if out.code != 0 || !strings.Contains(out.stderr, w) {
			t.Errorf("exit %d, no %s in %s", out.code, w, out.stderr)
		}
	}
}

// Promise 17.15 (real models): an answer ends as soon as `enough` holds for what has arrived, even if the provider
// never ends it, and contains what was complete by then.
func TestPromise_17_15_Enough(t *testing.T) {
	for _, model := range everyModel {
		s := serving(t, llmtest.Reply{Text: `{"kind": "ad", "spam": true, "why": "` + strings.Repeat("a long reason ", 40) + `"}`, Fault: llmtest.StallStream})
		res, _, err := over(t, s, model, fmt.Sprintf(mails, `eq("spam", True)`))
		if err != nil || res.JSON() != `{"kind":"ad","spam":true,"tags":[],"why":""}` {
			t.Errorf("%s: %s, %v", model, res.JSON(), err)
		}
	}
	found, _ := checked(`main = agent(prompt = "A.", output = schema("S", a = bool, b = str), enough = eq("a", True))`)
	if !found.HasErrors() {
		t.Error("a field behind the condition needs a default, and has none")
	}
}

// Promise 17.16 (real models): a provider that refuses a schema is asked in JSON mode, then by the prompt alone, and
// the same decoder reads the answer in each case; a re-ask contains the fields' mistakes, and a final error contains
// the raw text.
func TestPromise_17_16_Ladder(t *testing.T) {
	src := `main = agent(name = "judge", output = schema("Verdict", ok = bool, score = field(int, ge = 0, le = 100)), prompt = "Judge.")`
	refusal := func(text string) llmtest.Reply { return providerError(400, "", text) }
	s := serving(t, refusal("response_format json_schema is not supported"), refusal("json_object is not supported"),
		llmtest.Reply{Text: `{"ok": yes, "score": 900}`, In: 1, Out: 1}, llmtest.Reply{Text: "Sure: ```json\n{'ok': True, 'score': 90,}\n```", In: 1, Out: 1})
	var repairs []string
	res, bodies, err := over(t, s, "compat/m", src, agentscript.OnEvent(engine.EventRepair, func(e engine.Event) { repairs = append(repairs, e.Text()) }))
	if err != nil || res.JSON() != `{"ok":true,"score":90}` || len(bodies) != 4 {
		t.Fatalf("%s after %d requests: %v", res.JSON(), len(bodies), err)
	}
	for i, want := range []string{"json_schema", "json_object", "", ""} {
		if want == "" && strings.Contains(bodies[i], "response_format") || !strings.Contains(bodies[i], want) {
			t.Errorf("request %d: %s", i, bodies[i])
		}
	}
	if !strings.Contains(bodies[3], "score") || !strings.Contains(bodies[3], "100") || len(repairs) == 0 {
		t.Errorf("asked again by %s; repairs %q", bodies[3], repairs)
	}
	s = serving(t, llmtest.Reply{Text: "never", In: 2, Out: 1, Repeat: true})
	_, bodies, err = over(t, s, "google/gemini-3-flash-preview", strings.Replace(src, "prompt", "repairs = 2, prompt", 1))
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != "AS706" || e.Raw != "never" || len(bodies) != 3 || e.Usage.In != 6 {
		t.Errorf("%d requests: %#v", len(bodies), err)
	}
}

// Promise 17.17 (real models): `structured = "constrained"` is a check error if the model cannot be constrained to the
// type, and is sent if it can.
func TestPromise_17_17_Constrained(t *testing.T) {
	flow := func(models ...string) string {
		var b strings.Builder
		b.WriteString("Verdict = schema(\"Verdict\", ok = bool)\n")
		for i, m := range models {
			fmt.Fprintf(&b, "a%d = agent(model = %q, output = Verdict, structured = \"constrained\", prompt = \"Judge.\")\n", i, m)
		}
		return file(t, "c.star", b.String())
	}
	out := offline(t, "check", flow("openai/gpt-5-mini", "anthropic/claude-sonnet-4-6", "google/gemini-2.5-flash", "mistral/mistral-small", "ollama/m", "compat/m"))
	if out.code != 0 || strings.Contains(out.stderr, "AS512") {
		t.Errorf("exit %d: %s", out.code, out.stderr)
	}
	for _, mo := range []string{"deepseek/deepseek-chat", "anthropic/claude-3-5-haiku-latest"} {
		stops(t, offline(t, "check", flow(mo)), 3, "AS512", mo)
		if why := llm.New(variables()).Constrains(mo, &generable.Type{Kind: generable.RecordType, Name: "V", Fields: []generable.Field{{Name: "ok", Type: generable.BoolT}}}, false); why == "" {
			t.Errorf("a host is not told that %s cannot", mo)
		}
	}
}

// Promise 17.18 (real models): `--record` writes the answers of models and `--replay` answers from them without any
// model; a call that was not recorded shows the nearest one and the part that differs, with exit code 9. `--cache`
// asks only once, and no key is in a file or in the output.
func TestPromise_17_18_RecordReplayCache(t *testing.T) {
	const key = "canary-of-a-key-0123456789"
	s := serving(t, llmtest.Reply{Text: "your key is " + key, Repeat: true})
	env := []string{"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + s.OpenAI()}
	dir := t.TempDir()
	calls, cache, trace := filepath.Join(dir, "calls.jsonl"), filepath.Join(dir, "cache"), filepath.Join(dir, "trace.jsonl")
	flow := file(t, "f.star", `main = agent(name = "judge", model = "openai/m", prompt = "Judge.")`)
	recorded := runCommand(t, env, "run", "--json", "--trace", trace, "--record", calls, "--cache", cache, flow, "one "+key)
	again := runCommand(t, env, "run", "-q", "--cache", cache, flow, "one "+key)
	missed := offline(t, "run", "-q", "--replay", calls, flow, "another")
	prints(t, again, "your key is [redacted]")
	stops(t, missed, 9, "AS718", "another", "one ")
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	if recorded.code != 0 || recorded.stdout != "your key is [redacted]\n" {
		t.Errorf("%+v", recorded)
	}
	seen := recorded.stdout + recorded.stderr + again.stdout + again.stderr + missed.stderr
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(strings.ReplaceAll(string(text), "one "+key, ""), key) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.ReplaceAll(seen, "one "+key, ""), key) {
		t.Errorf("the key is shown: %s", seen)
	}
}

// Promise 17.19 (real models): a call is priced by an embedded, dated table or by a file that takes precedence over
// it; a model without a price is counted as such and never as 0. `check --cost` gives the most calls, tokens and money
// of a run and names the models without a price.
func TestPromise_17_19_Prices(t *testing.T) {
	src := `main = agent(name = "judge", prompt = "Judge.")`
	mine := file(t, "prices.json", `{"openai/own": {"input": 1000, "output": 2000, "context": 1000}}`)
	for model, want := range map[string]string{"openai/gpt-5-mini": `"cost_usd":0.00225`, "openai/own": `"cost_usd":3`, "openai/nobody-knows-it": `"unpriced":1`} {
		s := serving(t, llmtest.Reply{Text: "ok", In: 1000, Out: 1000, Model: strings.TrimPrefix(model, "openai/")})
		env := []string{"OPENAI_API_KEY=k-of-openai", "OPENAI_BASE_URL=" + s.OpenAI()}
		args := []string{"run", "--json", "--model", model}
		if model == "openai/own" {
			args = append(args, "--prices", mine)
		}
		out := runCommand(t, env, append(args, file(t, "p.star", src), "x")...)
		if out.code != 0 || !strings.Contains(out.stderr, want) || strings.Contains(out.stderr, `"cost_usd":0,`) {
			t.Errorf("%s: exit %d, no %s in %s", model, out.code, want, out.stderr)
		}
	}
	pipe := file(t, "c.star", `main = agent(name = "one", model = "openai/own", prompt = "A.", budget = budget(turns = 1)) >> agent(name = "two", model = "compat/m", prompt = "B.")`)
	out := offline(t, "check", pipe, "--cost", "--prices", mine)
	for _, w := range []string{"at most 3 model calls", "$2.00", "1000 ", "no price or context window is known for compat/m"} {
		if out.code != 0 || !strings.Contains(out.stdout, w) {
			t.Errorf("exit %d, no %q in %s%s", out.code, w, out.stdout, out.stderr)
		}
	}
	// The models after the first may be more expensive, or have no price.
	list := file(t, "l.star", `main = agent(model = ["openai/gpt-5-mini", "openai/own", "compat/m"], prompt = "A.", max_tokens = 500, budget = budget(turns = 1))`)
	out = offline(t, "check", list, "--cost", "--prices", mine)
	for _, w := range []string{"at most 1 model call", "$1.50", "no price or context window is known for compat/m"} {
		if out.code != 0 || !strings.Contains(out.stdout, w) {
			t.Errorf("exit %d, no %q in %s%s", out.code, w, out.stdout, out.stderr)
		}
	}
}

// keeping passes an answer to its reader, and keeps a copy.
func keeping(raw *[]byte, header *map[string][]string) http.RoundTripper {
	return tripper(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if *raw, err = io.ReadAll(resp.Body); err != nil {
			return nil, err
		}
		*header, resp.Body = resp.Header, io.NopCloser(bytes.NewReader(*raw))
		return resp, nil
	})
}

// Promise 17.20 (real models): a recorded answer of any provider, whole or streamed, is read as a call reads it: text,
// thoughts, calls, usage and finish; anything that is not an answer is a typed error.
func TestPromise_17_20_DecodeExchange(t *testing.T) {
	call := llmtest.Call{ID: "call_0001", Name: "f", Args: `{"a":1}`}
	for _, m := range everyModel {
		for _, stream := range []bool{false, true} {
			s := serving(t, llmtest.Reply{Text: "the answer", Reasoning: "hm", Calls: []llmtest.Call{call}, In: 7, Out: 3})
			var raw []byte
			var header map[string][]string
			models := allProviders(t, s, llm.WithTransport(keeping(&raw, &header)))
			e := &engine.Effect{Kind: engine.EffectModel, Name: m, Stream: stream, Req: &model.Request{Messages: []model.Message{model.TextMessage(model.RoleUser, "x")},
				Tools: []model.ToolDef{{Name: "f", Params: &generable.Type{Kind: generable.RecordType, Name: "F", Fields: []generable.Field{{Name: "a", Type: generable.IntT}}}}}}}
			out := models.Do(t.Context(), e, func(engine.Token) {})
			if out.Err != nil {
				t.Fatalf("%s: %v", m, out.Err)
			}
			provider, _, _ := strings.Cut(m, "/")
			got, err := llm.DecodeExchange(provider, 200, header, raw)
			if err != nil || got.Text() != "the answer" || len(got.Calls()) != 1 || got.Calls()[0].Name != "f" || got.Usage.In != 7 || got.Usage.Out != 3 || got.Finish != out.Response.Finish || got.Parts[0].Text != "hm" {
				t.Errorf("%s, streamed %v: %+v, %v", m, stream, got, err)
			}
		}
	}
	for body, kind := range map[string]engine.ErrKind{"<html>": engine.KindBadResponse, "data: {\"choi": engine.KindTruncated, "": engine.KindBadResponse} {
		var e *engine.Error
		if r, err := llm.DecodeExchange("openai", 200, nil, []byte(body)); !errors.As(err, &e) || e.Kind != kind {
			t.Errorf("%q: %+v, %v", body, r, err)
		}
	}
}
