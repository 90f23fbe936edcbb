package conformance

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// lostKey is a key with all characters that JSON and URLs encode, as long as real keys are.
const lostKey = `sk-proj-CANARY/+=<&>"-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ`

// spellings returns texts that contain a secret as programs write it.
func spellings(secret string) map[string]string {
	quoted, err := json.Marshal(secret)
	if err != nil {
		panic(err)
	}
	again, err := json.Marshal(string(quoted))
	if err != nil {
		panic(err)
	}
	all := map[string]string{
		"itself": "KEY=" + secret + "\n", "JSON": string(quoted), "JSON in JSON": string(again), "a query": url.Values{"k": {secret}}.Encode(),
		"a path": "/x/" + url.PathEscape(secret), "hex": hex.EncodeToString([]byte(secret)), "hex in capitals": fmt.Sprintf("%X", secret),
	}
	for offset := range 3 {
		whole := strings.Repeat("x", offset) + secret + "\n"
		all[fmt.Sprint("base64 at ", offset)] = base64.StdEncoding.EncodeToString([]byte(whole))
		all[fmt.Sprint("base64 of URLs at ", offset)] = base64.RawURLEncoding.EncodeToString([]byte(whole))
		folded := all[fmt.Sprint("base64 at ", offset)]
		all[fmt.Sprint("folded base64 at ", offset)] = folded[:76] + "\n" + folded[76:] + "\n"
	}
	return all
}

// shownAs reports in which spelling a secret occurs in what people and programs see.
func shownAs(seen, secret string) (how string, at int) {
	flat := strings.NewReplacer("\n", "", `\n`, "", `\\`, `\`).Replace(seen)
	for how, text := range spellings(secret) {
		core := strings.TrimSpace(strings.ReplaceAll(text, "\n", ""))
		core = core[len(core)/4 : len(core)*3/4] // half of it is too much
		for _, form := range []string{core, strings.Trim(compact(core), `"`)} {
			if at := strings.Index(flat, form); at >= 0 {
				return how, at
			}
		}
	}
	return "", -1
}

// Promise 26.100 (sound): the value of a loaded key is removed from every request except the authorization for its own
// provider, before digests are computed, and from every event, trace, record and error.
func TestPromise_26_100_KeysGoNowhereElse(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		for how, text := range spellings(lostKey) {
			var ids [2][]string
			for i, held := range []string{text, ""} { // with a key in the file, and with what must be left of it
				own := serving(t, llmtest.Reply{Text: "mine", Repeat: true})
				other := serving(t, llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "look", Args: `{"path": ".env"}`}}}, llmtest.Reply{Text: "done"})
				dir, g := grants(t, grant.FS(".", grant.ReadWrite))
				models := llm.New(variables("OPENAI_API_KEY", lostKey, "OPENAI_BASE_URL", own.OpenAI(), "AGENTSCRIPT_COMPAT_URL", other.OpenAI()))
				defer models.Close()
				if held == "" {
					held = models.Redact(text)
				}
				if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(held), 0o644); err != nil {
					t.Fatal(err)
				}
				mod := loaded(t, agentscript.New(agentscript.WithModels(models), agentscript.WithGrants(g)), `
def look(path = str):
    """Reads a file."""
    return fs.read(path)

spy = agent(prompt = "Look.", tools = [look], model = "compat/m")
mine = agent(prompt = "Go on.", model = "openai/m")

def main(text = str):
    print("it was " + text)
    fs.write("copy", text)
    approved = attempt(lambda x: approve("May " + x + " be?", x), text)
    return [spy(text), mine(text), fs.read("copy"), attempt(lambda x: fail("no " + x), text).error.message]
`)
				var seen bytes.Buffer
				j := &store.Memory{}
				res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"text": held}), agentscript.ID("run"), agentscript.HandlerFor(engine.EffectApproval, engine.Approvals(func(_ context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
					fmt.Fprintf(&seen, "asked: %s %s\n", r.Question, generable.JSON(r.Data, nil))
					return engine.Approve(), nil
				})), agentscript.RunJournal(j), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
					line, err := json.Marshal(e)
					fmt.Fprintf(&seen, "%s %v\n", line, err)
				})).Wait()
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				fmt.Fprintln(&seen, res.Text())
				for _, id := range j.IDs() {
					out, _ := j.Answer(id)
					fmt.Fprintf(&seen, "%s %+v %+v\n", id, out, out.Err)
				}
				ids[i] = j.IDs()
				for name, s := range map[string]*llmtest.Server{"its own provider": own, "another": other} {
					for _, r := range s.Requests() {
						fmt.Fprintf(&seen, "to %s: %s %s %s\n", name, r.Path, r.Body, strings.Join(r.Header["Accept"], " "))
						if holds := strings.Contains(fmt.Sprint(r.Header), lostKey); holds != (name == "its own provider") {
							t.Errorf("%s: the headers to %s hold the key: %v", how, name, holds)
						}
					}
				}
				copied, err := os.ReadFile(filepath.Join(dir, "copy"))
				fmt.Fprintf(&seen, "%s %v\n", copied, err)
				if form, at := shownAs(seen.String(), lostKey); form != "" {
					t.Errorf("%s: the key is shown as %s: …%s…", how, form, seen.String()[max(0, at-200):min(seen.Len(), at+100)])
				}
				if n := len(other.Requests()); n != 2 || !strings.Contains(string(other.Requests()[1].Body), "[redacted]") {
					t.Errorf("%s: %d requests, the last %s", how, n, other.Requests()[n-1].Body)
				}
			}
			if fmt.Sprint(ids[0]) != fmt.Sprint(ids[1]) {
				t.Errorf("%s: with the key the effects are\n%s\nand without\n%s", how, strings.Join(ids[0], "\n"), strings.Join(ids[1], "\n"))
			}
		}
	})
	t.Run("beside the script", func(t *testing.T) {
		for how, text := range spellings(lostKey) {
			other := serving(t, llmtest.Reply{Text: "done", Repeat: true})
			models := llm.New(variables("OPENAI_API_KEY", lostKey, "AGENTSCRIPT_COMPAT_URL", other.OpenAI()))
			defer models.Close()
			files := fstest.MapFS{".env": {Data: []byte(text)}, "flow.star": {Data: []byte(`
held = file(".env")
a = agent(prompt = "P " + held, model = "compat/m")

def main():
    print(held)
    return [a(held), "|".join(held.elems()), file(".env"), attempt(lambda: fail(held)).error.message]
`)}}
			var said string
			mod, err := agentscript.New(agentscript.WithModels(models)).Load(t.Context(), files, "flow.star")
			if err != nil {
				t.Fatal(err)
			}
			res, err := mod.Start(t.Context(), agentscript.OnEvent(engine.EventAll, func(e engine.Event) { said += compact(e) })).Wait()
			seen := res.JSON() + said + string(other.Requests()[0].Body)
			if form, _ := shownAs(strings.ReplaceAll(seen, "|", ""), lostKey); form != "" || err != nil || !strings.Contains(seen, "[redacted]") {
				t.Errorf("%s: %v, the key is shown as %s: %s", how, err, form, seen)
			}
		}
	})
	t.Run("the check", func(t *testing.T) {
		const key = "sk-proj-CANARY-0123456789abcdefghijklmnopqrstuvwxyz"
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		if err := errors.Join(os.WriteFile(at(".env"), []byte(key), 0o600), os.WriteFile(at("fails.star"), []byte("fail(file(\".env\"))\n"), 0o644),
			os.WriteFile(at("flow.star"), []byte("main = agent(prompt = \"P\", model = \"openai/\" + file(\".env\"))\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"check fails", "check --format json fails", "check --format sarif fails", "run fails", "graph flow", "check --manifest flow", "check --manifest --format json flow"} {
			words := strings.Fields(args)
			words[len(words)-1] = at(words[len(words)-1] + ".star")
			out := runCommand(t, []string{"OPENAI_API_KEY=" + key}, words...)
			if seen := out.stdout + out.stderr; strings.Contains(seen, "CANARY") || !strings.Contains(seen, "[redacted]") {
				t.Errorf("%s: %s", args, seen)
			}
		}
	})
	t.Run("the command", func(t *testing.T) {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		other := serving(t, llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "look", Args: `{"path": "` + at(".env") + `"}`}}}, llmtest.Reply{Text: "done"},
			llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "look", Args: `{"path": "` + at(".env") + `"}`}}}, providerError(400, "bad", "no"))
		const key = "sk-proj-CANARY-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		// The key is in the file, in the input and in the script itself.
		src := "def look(path = str):\n    \"\"\"Reads a file.\"\"\"\n    return fs.read(path)\n\nmain = agent(prompt = \"Look. " + key + "\", tools = [look], model = \"compat/m\")\n"
		if err := errors.Join(os.WriteFile(at(".env"), []byte("OPENAI_API_KEY="+key+"\n"), 0o600), os.WriteFile(at("flow.star"), []byte(src), 0o644)); err != nil {
			t.Fatal(err)
		}
		env := []string{"AGENTSCRIPT_COMPAT_URL=" + other.OpenAI()}
		for i, code := range []int{0, 6} {
			out := runCommand(t, env, "run", at("flow.star"), "my key is "+key, "--env-file", at(".env"), "--allow-fs", dir, "--trace", at("trace.jsonl"), "--record", at("record.jsonl"), "--force", "--json")
			seen := out.stdout + out.stderr
			for _, name := range []string{"trace.jsonl", "record.jsonl"} {
				text, err := os.ReadFile(at(name))
				if err != nil || !strings.Contains(string(text), "[redacted]") {
					t.Errorf("%s: %s, %v", name, text, err)
				}
				seen += string(text)
				if info, err := os.Stat(at(name)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 { // prompts and answers are private to the user
					t.Errorf("%s: %v, %v", name, info.Mode(), err)
				}
			}
			for _, r := range other.Requests() {
				seen += fmt.Sprint(r.Header) + string(r.Body)
			}
			if how, at := shownAs(seen, key); how != "" || out.code != code {
				t.Errorf("run %d: exit code %d; the key is shown as %s: %s", i, out.code, how, seen[max(0, at-200):min(len(seen), max(at, 0)+900)])
			}
			replayed := runCommand(t, env, "run", at("flow.star"), "my key is "+key, "--env-file", at(".env"), "--replay", at("record.jsonl"))
			if how, _ := shownAs(replayed.stdout+replayed.stderr, key); how != "" || replayed.code != code {
				t.Errorf("replay %d: exit code %d\n%s", i, replayed.code, replayed.stderr)
			}
		}
	})
}

// Promise 26.101 (sound): a key is recognised verbatim, in base64 at all three offsets, in URLs, in JSON and in hex, even
// when it is split across pieces of a stream.
func TestPromise_26_101_KeysInEverySpelling(t *testing.T) {
	for how, text := range spellings(lostKey) {
		s := serving(t, llmtest.Reply{Text: "It is " + text, ByRunes: true}, llmtest.Reply{Text: "It is " + text})
		for _, name := range []string{"compat/m", "host/m"} { // one redacts itself, and one does not
			models := llm.New(variables("OPENAI_API_KEY", lostKey, "AGENTSCRIPT_COMPAT_URL", s.OpenAI()))
			defer models.Close()
			handler := engine.Handler(models)
			if name == "host/m" { // in pieces of 1 to 7 bytes
				handler = telling{models, "It is " + text}
			}
			mod := loaded(t, agentscript.New(agentscript.WithModels(handler), agentscript.WithDefaultModel(name)), plainAgent)
			var tokens, seen strings.Builder
			res, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
				fmt.Fprintln(&seen, compact(e))
				tokens.WriteString(e.Text())
			})).Wait()
			if err != nil {
				t.Fatal(how, name, err)
			}
			for where, text := range map[string]string{"the tokens": tokens.String(), "the events": seen.String(), "the result": res.Text()} {
				if form, _ := shownAs(text, lostKey); form != "" {
					t.Errorf("%s of %s, %s: shown as %s: %s", where, name, how, form, text)
				}
			}
			if !strings.Contains(res.Text(), "[redacted]") {
				t.Errorf("%s: %s", how, res.Text())
			}
		}
	}
}

// telling answers with a text in small pieces, without inspecting it. Its keys are those of a registry.
type telling struct {
	*llm.Registry
	text string
}

func (h telling) Do(_ context.Context, _ *engine.Effect, sink engine.Sink) engine.Outcome {
	seq := 0
	for rest, n := h.text, 1; rest != ""; n = n%7 + 1 {
		piece := rest[:min(n, len(rest))]
		if rest = rest[len(piece):]; sink != nil {
			sink(engine.Token{Attempt: 1, Seq: seq, Text: piece})
			seq++
		}
	}
	return said(h.text)
}

// Promise 26.102 (sound): a key of fewer than 8 characters is refused with a warning.
func TestPromise_26_102_ShortKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flow.star")
	if err := os.WriteFile(file, []byte(plainAgent+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"k", "sk-1234", "sk-12345"} {
		own := serving(t, llmtest.Reply{Text: "fine", Repeat: true})
		out := runCommand(t, []string{"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + own.OpenAI()}, "run", "-q", file, "x", "--model", "openai/m")
		warned := strings.Contains(out.stderr, fmt.Sprintf("warning[AS709]: OPENAI_API_KEY holds %d character", len(key)))
		sent := strings.Contains(fmt.Sprint(own.Requests()[0].Header), key)
		if short := len(key) < 8; out.code != 0 || warned != short || sent == short || short && strings.Contains(out.stderr, key+" ") {
			t.Errorf("%q: exit code %d, sent: %v\n%s", key, out.code, sent, out.stderr)
		}
		// The provider's own address requires a key.
		models := llm.New(variables("OPENAI_API_KEY", key))
		defer models.Close()
		if err := models.Check("openai/m"); (err != nil && string(err.Code) == "AS709" && strings.Contains(err.Message, "too short for a key")) != (len(key) < 8) {
			t.Errorf("%q: %v", key, err)
		}
		if got := models.Warnings("openai/m", "openai/n", "ollama/m"); (len(got) == 1) != (len(key) < 8) {
			t.Errorf("%q: warnings %q", key, got)
		}
	}
}

// TestSecretsOfAllHandlers checks that granted secrets, and those of a host's own handler, are kept out of what a
// script reads and requests, as keys are. A file that contained one is not written back without it. A single word is
// not a secret.
func TestSecretsOfAllHandlers(t *testing.T) {
	const granted, own = "granted-canary-0123456789", "host-canary-0123456789"
	dir, g := grants(t, grant.FS(".", grant.ReadWrite), grant.Env("API_TOKEN", "DB_PASSWORD"), grant.LookupEnv(func(name string) (string, bool) {
		v, ok := map[string]string{"API_TOKEN": granted, "DB_PASSWORD": "postgres"}[name]
		return v, ok
	}))
	before := "A=" + granted + "\nB=" + own + "\nC=postgres\n"
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	handler := secretive{engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		if text := compact(e.Req); strings.Contains(text, "canary") {
			t.Errorf("the model is asked %s", text)
		}
		return said("it was " + own)
	}), own}
	mod := loaded(t, agentscript.New(agentscript.WithModels(handler), agentscript.WithDefaultModel("a/b"), agentscript.WithGrants(g)), `
a = agent(prompt = "P.")

def main(text = str):
    read = fs.read(".env")
    back = attempt(lambda t: fs.write("./.env", t), read.replace("C=", "D="))
    fs.write("copy", read)
    fs.write(".env", "nothing of it")
    return [read, text, a(read + text), back.error.code, fs.read("copy")]
`)
	j := &store.Memory{}
	res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"text": own}), agentscript.RunJournal(j)).Wait()
	read := `A=[redacted]\nB=[redacted]\nC=postgres\n`
	if want := `["` + read + `","[redacted]","it was [redacted]","AS761","` + read + `"]`; err != nil || res.JSON() != want {
		t.Errorf("%s, %v, want %s", res.JSON(), err, want)
	}
	for _, id := range j.IDs() {
		if out, _ := j.Answer(id); strings.Contains(fmt.Sprintf("%+v", out), "canary") || strings.Contains(id, "canary") {
			t.Errorf("the journal holds %s %+v", id, out)
		}
	}
}

// TestKeysInNames checks that a key that a script itself contains, in the names of nodes, budgets, memories and in what
// servers are started with, is in no event and no error.
func TestKeysInNames(t *testing.T) {
	const key = "sk-proj-CANARY-0123456789"
	handler := secretive{engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		if e.Kind == engine.EffectMCP {
			return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ServerUnreachable, "no %s", key))
		}
		return said("x")
	}), key}
	mod := loaded(t, agentscript.New(agentscript.WithModels(handler), agentscript.WithDefaultModel("a/b"), agentscript.WithMCP(handler)), strings.ReplaceAll(`
notes = memory("KEY")
named = agent("a KEY", prompt = "P.", on_token = lambda t: None)
tight = agent("b KEY", prompt = "P.", budget = budget("KEY", tokens = 1))
asked = then(approval("May KEY be?", input = str), fn(lambda x: x, input = str, output = str))
served = agent(prompt = "P.", tools = [mcp("npx", name = "s", args = ["KEY"], env = {"A": "KEY", "KEY": "b"})])
far = agent(prompt = "P.", tools = [mcp(url = "https://x.example/KEY?k=KEY", name = "t", headers = {"X-KEY": "KEY"})])

def main(text = str):
    notes.write(text)
    for n in [named, tight, served, far, asked]:
        attempt(lambda x: n(x), text)
    return "done"
`, "KEY", key))
	var seen bytes.Buffer
	_, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"text": "x"}), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
		line, err := json.Marshal(e)
		fmt.Fprintf(&seen, "%s %v\n", line, err)
	})).Wait()
	if !errors.Is(err, engine.ErrApproval) || strings.Contains(err.Error(), "CANARY") {
		t.Error(err)
	}
	for line := range strings.Lines(seen.String()) {
		if strings.Contains(line, "CANARY") {
			t.Errorf("an event shows the key: %s", line)
		}
	}
	for _, what := range []string{`"bank":"[redacted]"`, "agent:a%20[redacted]#0", `approval(`, `"url":"https://x.example/`} {
		if !strings.Contains(seen.String(), what) {
			t.Errorf("no event tells of %s", what)
		}
	}
}

// secretive is a handler that holds a secret.
type secretive struct {
	engine.Handler
	secret string
}

func (h secretive) Secrets() []string { return []string{h.secret} }

// TestSecretsThatACutParts checks that no part of a secret is left where a text is cut, and that the rest does not
// reveal whether there was one: a script could find it out letter by letter.
func TestSecretsThatACutParts(t *testing.T) {
	const key = "sk-proj-CANARY-0123456789abcdefghijklmnopqrstuvwxyz"
	dir, g := grants(t, grant.FS(".", grant.ReadWrite), grant.Exec("cat"), grant.OutputCap(300))
	models := llm.New(variables("OPENAI_API_KEY", key))
	defer models.Close()
	mod := loaded(t, agentscript.New(agentscript.WithModels(models), agentscript.WithGrants(g)), `
def main(name = str, limit = int):
    return [fs.read(name, limit = limit), sh.run(["cat", name], dir = ".").stdout]
`)
	read := func(name, text string, limit int) []string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"name": name, "limit": limit})).Wait()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		if err := json.Unmarshal([]byte(res.JSON()), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	step, every := 7, 1
	if testing.Short() {
		step, every = 49, 3
	}
	for before := 200; before < 300; before += step {
		for _, tail := range []string{"", strings.Repeat("y", 2000)} {
			for limit := before; limit <= before+len(key); limit += every {
				for _, got := range read("f", strings.Repeat("x", before)+key+tail, limit) {
					if strings.Contains(got, "CANARY") || strings.Contains(got, "sk-p") {
						t.Fatalf("%d before, limit %d: %q", before, limit, got)
					}
				}
			}
		}
	}
	for n := 1; n < len(key); n += every { // a right guess looks like a wrong one
		right := strings.Repeat("x", 300-n) + key[:n] + "?" + strings.Repeat("y", 2000)
		for i, got := range read("f", right, 300) {
			if got != right[:300] {
				t.Errorf("%d: a guess of %d letters reads %q", i, n, got)
			}
		}
	}
}
