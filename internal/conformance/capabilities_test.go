package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// grants makes grants in a new directory.
func grants(t *testing.T, options ...grant.Option) (dir string, g *grant.Grants) {
	t.Helper()
	dir = t.TempDir()
	g, err := grant.New(append([]grant.Option{grant.WorkDir(dir)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir, g
}

// Promise 23.1 (capabilities): a script accesses commands, hosts, files and environment variables only through `sh`,
// `http`, `fs` and `env`, and only with a grant. A use that is written out is refused when the script is loaded, with
// the flag that grants it; any other use is refused by the run.
func TestPromise_23_1_NothingByDefault(t *testing.T) {
	for use, flag := range map[string]string{
		`sh.run(["git", "log"])`:                          "--allow-exec git",
		`sh.run(["git"] + [x])`:                           "--allow-exec git",
		`http.get("https://api.example.com/v1")`:          "--allow-net api.example.com",
		`http.post("http://localhost:8080/" + x)`:         "--allow-net localhost:8080",
		`http.request("PUT", "https://a.example/%s" % x)`: "--allow-net a.example",
		`fs.read("notes/a.md")`:                           "--allow-fs notes:ro",
		`fs.write("notes/a.md", x)`:                       "--allow-fs notes:rw",
		`fs.list("my notes")`:                             "--allow-fs 'my notes':ro",
		`fs.remove("a.md")`:                               "--allow-fs .:rw",
		`env.get("LANG")`:                                 "--allow-env LANG",
		`env.secret("API_TOKEN")`:                         "--allow-env API_TOKEN",
	} {
		found, shown := checked("def main(x = \"x\"):\n    return str(" + use + ")\n")
		if codes(found) != string(diag.NotGranted) || !strings.HasSuffix(found[0].Help[0], " "+flag) {
			t.Errorf("%s: want %s\n%s", use, flag, shown)
		}
	}
	eng := agentscript.New(agentscript.WithUngranted())
	for use, flag := range map[string]string{`fs.read(x)`: "--allow-fs .:ro", `sh.run([x])`: "--allow-exec x", `http.get("http://" + x + "/")`: "--allow-net x", `env.get(x)`: "--allow-env x"} {
		_, err := loaded(t, eng, "def main(x = \"x\"):\n    return str("+use+")\n").Start(t.Context()).Wait()
		if e, ok := err.(*engine.Error); !ok || e.Code != diag.UngrantedUse || !strings.HasSuffix(e.Help, flag) {
			t.Errorf("%s: %v, want %s", use, err, flag)
		}
	}
	found, _ := checked("text = fs.read(\"a.md\")\ndef main():\n    return text\n")
	if !strings.Contains(codes(found), string(diag.CalledWhileComposing)) {
		t.Errorf("a file is read while composing: %s", codes(found))
	}
}

// Promise 23.2 (capabilities): each access is an effect: it is recorded, and a replay returns the same and accesses
// nothing, on any scheduler.
func TestPromise_23_2_Replay(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "answer ", asked.Add(1)) }))
	defer server.Close()
	dir, g := grants(t, grant.Net(strings.TrimPrefix(server.URL, "http://")), grant.FS(".", grant.ReadWrite), grant.Env("LANG"),
		grant.LookupEnv(func(name string) (string, bool) { return "C", name == "LANG" }))
	src := `
def one(n):
    fs.write("out/%d.txt" % n, http.post(URL, json = n).text)
    return fs.read("out/%d.txt" % n)

def main():
    out = parallel(one, [1, 2, 3])
    lost = attempt(fs.read, "none")
    return [sorted([len(s) for s in out]), fs.list("out"), env.get("LANG"), lost.error.code, fs.exists("none"), http.get(URL + "/x").status]
`
	src = "URL = \"" + server.URL + "\"\n" + src
	mod := loaded(t, agentscript.New(agentscript.WithGrants(g)), src)
	record := &store.Memory{}
	first, err := mod.Start(t.Context(), agentscript.RunJournal(record)).Wait()
	if err != nil || first.JSON() != `[[8,8,8],["1.txt","2.txt","3.txt"],"C","AS759",false,200]` {
		t.Fatalf("%s, %v", first.JSON(), err)
	}
	was := asked.Load()
	if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	nothing := agentscript.New(agentscript.WithUngranted())
	for _, opts := range [][]agentscript.RunOption{nil, {agentscript.Cooperative(1)}, {agentscript.Cooperative(7)}} {
		again, err := loaded(t, nothing, src).Start(t.Context(), append(opts, agentscript.RunJournal(record))...).Wait()
		if err != nil || again.JSON() != first.JSON() {
			t.Errorf("a replay gives %s, %v", again.JSON(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); asked.Load() != was || err == nil {
		t.Error("the replay touched something")
	}
}

// Promise 23.3 (capabilities): a tool of a script can access what is granted. A model is told about a refused access
// and may do something else.
func TestPromise_23_3_Tools(t *testing.T) {
	dir, g := grants(t, grant.FS(".", grant.ReadOnly))
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := "done"
	models := scripted.New([]scripted.Row{
		{Calls: []scripted.Call{{Name: "read", Args: json.RawMessage(`{"path": "/etc/passwd"}`)}, {Name: "read", Args: json.RawMessage(`{"path": "../a.md"}`)},
			{Name: "read", Args: json.RawMessage(`{"path": "a.md"}`)}}},
		{Text: &done},
	})
	mod := loaded(t, agentscript.New(agentscript.WithGrants(g), agentscript.WithModels(models)), `
def read(path = str):
    """Reads a file."""
    return fs.read(path)

main = agent(model = "test/m", prompt = "Read.", tools = [read])
`)
	res, err := mod.Start(t.Context(), agentscript.Input("go")).Wait()
	if err != nil || res.Text() != "done" {
		t.Fatalf("%s, %v", res.Text(), err)
	}
	said := models.Requests()[1].Request.Messages
	var heard []string
	for _, p := range said[len(said)-1].Parts {
		heard = append(heard, p.Result.Text)
	}
	if all := strings.Join(heard, "\n"); !strings.Contains(heard[0], `reading "/etc/passwd" is not granted`) || !strings.Contains(heard[1], "is not granted") || heard[2] != "hello" {
		t.Errorf("the model hears\n%s", all)
	}
}

// Promise 23.4 (capabilities): the value of a secret reaches the request that it is for, and no event, record, result
// or error. A secret cannot be read as text.
func TestPromise_23_4_Secrets(t *testing.T) {
	const value = "s3cr3t-value-0123"
	got := make(chan string, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization") + " " + r.URL.RawQuery
		fmt.Fprint(w, "you sent ", r.Header.Get("Authorization"))
	}))
	defer server.Close()
	_, g := grants(t, grant.Net(strings.TrimPrefix(server.URL, "http://"), "127.0.0.1:1"), grant.Env("API_TOKEN"),
		grant.LookupEnv(func(name string) (string, bool) { return value, name == "API_TOKEN" }))
	mod := loaded(t, agentscript.New(agentscript.WithGrants(g)), `
URL = "`+server.URL+`"

def main():
    token = env.secret("API_TOKEN")
    print(token)
    page = http.get(URL + "/?key=" + token, headers = {"Authorization": "Bearer " + token})
    lost = attempt(http.get, "http://127.0.0.1:1/?key=" + token)
    return [page.text, page.url, str(token), lost.error.message]
`)
	var events strings.Builder
	record := &store.Memory{}
	res, err := mod.Start(t.Context(), agentscript.RunJournal(record), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
		text, err := json.Marshal(e)
		if err != nil {
			t.Error(err)
		}
		events.Write(text)
	})).Wait()
	if err != nil {
		t.Fatal(err)
	}
	if sent := <-got; sent != "Bearer "+value+" key="+value {
		t.Errorf("the server got %q", sent)
	}
	if !strings.Contains(events.String(), `"env":"API_TOKEN"`) {
		t.Error("the events do not say which secret is used")
	}
	var kept []byte
	for _, id := range record.IDs() {
		out, _ := record.Answer(id)
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, text...)
		kept = fmt.Appendf(generable.AppendJSON(kept, out.Value, nil), "%s %v", id, out.Err)
	}
	var recorded bytes.Buffer
	rec := cassette.Record(&recorded, g, nil)
	failing := loaded(t, agentscript.New(agentscript.WithGrants(g)), "def main():\n    token = env.secret(\"API_TOKEN\")\n    http.get(\""+server.URL+"\", headers = {\"Authorization\": token})\n    return http.get(\"http://127.0.0.1:1/?key=\" + token).text\n")
	_, failed := failing.Start(t.Context(), agentscript.HandlerFor(engine.EffectHTTP, rec.Around(g)), agentscript.HandlerFor(engine.EffectEnv, rec.Around(g))).Wait()
	var e *engine.Error
	if !errors.As(failed, &e) || strings.Count(recorded.String(), "\n") < 2 {
		t.Fatalf("%v, recorded is\n%s", failed, &recorded)
	}
	shownError, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"an event": events.String(), "the result": res.JSON(), "a journal": string(kept), "a record": recorded.String(),
		"an error": fmt.Sprintf("%v %+v %s", failed, *e, shownError)} {
		if strings.Contains(text, value) {
			t.Errorf("the secret is in %s:\n%s", what, text)
		}
	}
	found, shown := checkedBy(agentscript.New(agentscript.WithGrants(g)), "def main():\n    return env.get(\"API_TOKEN\")\n")
	if codes(found) != string(diag.SecretAsText) || !strings.Contains(shown, `env.secret("API_TOKEN")`) {
		t.Errorf("check says\n%s", shown)
	}
}

// Promise 23.5 (capabilities): `check --manifest` lists what a script may access, without needing a grant. The output
// is the same for the same script, in sorted JSON with a hash. `--manifest-against` exits with 3 if a script may access
// more than the saved manifest says, not if it may access less.
func TestPromise_23_5_Manifest(t *testing.T) {
	flow := file(t, "flow.star", "def main(x = str):\n    fs.write(\"b.md\", x)\n    return sh.run([\"git\"]).stdout + sh.run([\"awk\"]).stdout + fs.read(\"a.md\")\n")
	asJSON := func() string {
		out := offline(t, "check", "--manifest", "--format", "json", flow)
		if out.code != 0 {
			t.Fatalf("%d\n%s", out.code, out.stderr)
		}
		return out.stdout
	}
	saved := asJSON()
	if saved != asJSON() || !strings.Contains(saved, `"exec":["awk","git"]`) || !strings.Contains(saved, `"write":["b.md"]`) || !strings.Contains(saved, `"hash":"`) {
		t.Errorf("the manifest is\n%s", saved)
	}
	old := file(t, "saved.json", saved)
	for src, want := range map[string]int{
		"def main(x = str):\n    return sh.run([\"git\"]).stdout\n":                                                                     0,
		"def main(x = str):\n    return sh.run([\"curl\"]).stdout\n":                                                                    3,
		"def main(x = str):\n    return sh.run([x]).stdout\n":                                                                           3,
		"def f(path = str):\n    \"\"\"F.\"\"\"\n    return path\n\nmain = agent(model = \"ollama/x\", prompt = \"P.\", tools = [f])\n": 3,
	} {
		if err := os.WriteFile(flow, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
		out := offline(t, "check", "--manifest-against", old, flow)
		if out.code != want || want == 3 && !strings.Contains(out.stderr, "AS623") {
			t.Errorf("exit code %d, want %d:\n%s\n%s", out.code, want, src, out.stderr)
		}
	}
}

// A manifest also names what is called and started in addition to the agents' own models: a router's model, those that
// summarize, those of agents that fix calls or are tools, and the environment of a server.
func TestManifestOfHelpers(t *testing.T) {
	flow := file(t, "flow.star", `
def look(city = str):
    """Looks."""
    return city

mender = agent(input = ToolFailure, prompt = "Mend.", model = "ollama/mender", tools = [mcp("mends", name = "mends")])
expert = agent(prompt = "Know.", model = "ollama/expert")
desk = agent(
    prompt = "Answer.",
    model = "ollama/desk",
    tools = [tool(look, on_error = recover(bad_args = fix(mender))), as_tool(expert, doc = "Knows."), mcp("npx", name = "npx", args = ["x"], env = {"NODE_OPTIONS": "-r ./a.js", "KEY": secret("X_KEY", prefix = "k ")})],
    skills = [skill("a", "Does a."), skill("b", "Does b.")],
    select = router(model = "ollama/router"),
    history = compress(how = "summary", model = "ollama/summer"),
)
main = conversation(desk >> agent(name = "end", prompt = "End."), history = compress(how = "summary", model = "ollama/flow"))
`)
	out := offline(t, "check", "--manifest", flow)
	for _, want := range []string{
		"models  ollama/desk, ollama/expert, ollama/flow, ollama/mender, ollama/router, ollama/summer\n", "exec    mends, npx\n", "env     X_KEY\n",
		`mcp     mends: mends, npx: NODE_OPTIONS="-r ./a.js" KEY="k <secret X_KEY>" npx x` + "\n",
	} {
		if !strings.Contains(out.stdout, want) {
			t.Errorf("the manifest lacks %q:\n%s\n%s", want, out.stdout, out.stderr)
		}
	}
}

// Promise 23.6 (capabilities): neither `..` nor a symbolic link leads out of a granted directory, and neither a
// redirect nor an address inside the local network leads away from a granted host. A granted command gets its arguments
// without a shell and ends with all processes that it started. Output is capped and operations are limited in time.
func TestPromise_23_6_Confined(t *testing.T) {
	dir, g := grants(t, grant.FSAs("work", t.TempDir(), grant.ReadWrite), grant.Net("*"), grant.OutputCap(10))
	_ = dir
	eng := agentscript.New(agentscript.WithGrants(g))
	for use, code := range map[string]diag.Code{
		`fs.read("work/../a")`:                     diag.UngrantedUse,
		`http.get("http://127.0.0.1:9/").text`:     diag.TouchRefused,
		`http.get("http://169.254.169.254/").text`: diag.TouchRefused,
		`fs.read("work/none")`:                     diag.TouchFailed,
	} {
		src := "def main():\n    return " + use + "\n"
		mod, err := agentscript.New(agentscript.WithGrants(g), agentscript.WithUngranted()).Load(t.Context(), script(src), "flow.star")
		if err != nil {
			t.Fatal(err)
		}
		_, err = mod.Start(t.Context()).Wait()
		if e, ok := err.(*engine.Error); !ok || e.Code != code || e.Help == "" && code != diag.TouchFailed {
			t.Errorf("%s: %v, want %s", use, err, code)
		}
	}
	res, err := loaded(t, eng, "def main():\n    fs.write(\"work/a\", \"x\" * 11)\n    return [fs.read(\"work/a\", limit = 99), attempt(fs.read, \"work/a\").error.code]\n").Start(t.Context()).Wait()
	if err != nil || res.JSON() != `["xxxxxxxxxx","AS760"]` {
		t.Errorf("%s, %v", res.JSON(), err)
	}
}

// Promise 23.7 (capabilities): the example that reads files and runs a command works with the flags that it shows, and
// is refused without them.
func TestPromise_23_7_Example(t *testing.T) {
	exampleRuns(t, "workspace.star")
	stops(t, offline(t, "run", "-q", "examples/workspace.star"), 3, "AS620", "--allow-exec sort", "--allow-fs")
}
