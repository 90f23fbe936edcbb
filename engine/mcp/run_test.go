//go:build unix

package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// ran is the result of a script whose agents have servers.
type ran struct {
	text   string
	err    error
	events []engine.Event
	models *scripted.Model
}

// recorded returns everything that a run and its journal contain.
func (r *ran) recorded(t *testing.T, j *store.Memory) string {
	t.Helper()
	var all strings.Builder
	if err := json.NewEncoder(&all).Encode(r.events); err != nil {
		t.Fatal(err)
	}
	for _, id := range j.IDs() {
		out, _ := j.Answer(id)
		data, err := json.Marshal([]any{id, json.RawMessage(generable.JSON(out.Value, nil)), out.Err, out.Response})
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	if r.err != nil {
		all.WriteString(r.err.Error())
	}
	return all.String() + r.text
}

// failure returns the run's error as an engine error.
func (r *ran) failure(t *testing.T) *engine.Error {
	t.Helper()
	e, ok := r.err.(*engine.Error)
	if !ok {
		t.Fatalf("the run gives %q, %v", r.text, r.err)
	}
	return e
}

// told returns the results of its calls that the model received.
func (r *ran) told() (texts []string) {
	seen := r.models.Requests()
	for _, m := range seen[len(seen)-1].Request.Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				texts = append(texts, p.Result.Text)
			}
		}
	}
	return texts
}

// offered returns the names under which the model was offered tools.
func (r *ran) offered() (names []string) {
	for _, d := range r.models.Requests()[0].Request.Tools {
		names = append(names, d.Name)
	}
	return names
}

// load loads a script with a client, nil for none. EXE in the script is the test's binary.
func load(t *testing.T, c, models engine.Handler, script string) *agentscript.Module {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(exe)
	script = strings.ReplaceAll(script, "EXE", string(quoted))
	options := []agentscript.Option{agentscript.WithModels(models), agentscript.WithDefaultModel("scripted/one")}
	if c != nil {
		options = append(options, agentscript.WithMCP(c))
	} else { // there is nothing to grant
		options = append(options, agentscript.WithUngranted())
	}
	mod, err := agentscript.New(options...).Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(script)}}, "main.star")
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// run runs a script with the answers of its models.
func run(t *testing.T, c engine.Handler, script, answers string, opts ...agentscript.RunOption) *ran {
	t.Helper()
	models, err := scripted.Read(strings.NewReader(strings.ReplaceAll(answers, "\n{", "\n{\"agent\": \"main\", ")), "answers")
	if err != nil {
		t.Fatal(err)
	}
	mod := load(t, c, models, script)
	r := &ran{models: models}
	var mu sync.Mutex
	res, err := mod.Start(t.Context(), append(opts, agentscript.InputText("go"), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
		mu.Lock()
		defer mu.Unlock()
		r.events = append(r.events, e)
	}))...).Wait()
	r.text, r.err = res.Text(), err
	return r
}

// declared declares a server in a mode with a transport; more of the declaration begins with a comma.
func declared(t *testing.T, name, mode, transport, more string) string {
	switch {
	case transport == remote.TransportStdio:
		return name + ` = mcp(EXE, env = {"` + asServer + `": "` + mode + `"}` + more + ")\n"
	case mode == "good":
		return name + ` = mcp(url = "` + served(t, transport, nil).URL + `", transport = "` + transport + `"` + more + ")\n"
	}
	return name + ` = mcp(url = "` + wired(t, mode, transport).URL + `", transport = "` + transport + `"` + more + ")\n"
}

var transports = []string{remote.TransportStdio, remote.TransportHTTP, remote.TransportSSE}

// Promise 24.1 (MCP): an agent has the tools of a server over stdio, streamable HTTP or SSE. Arguments are decoded
// leniently by the server's own schema, structured answers take precedence over text, errors inside results are passed
// to the model, and pictures are shown to it.
func TestPromise_24_1_ToolsOfServers(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		r := run(t, client(t), declared(t, "good", "good", transport, "")+`main = agent(prompt = "Use the tools.", tools = [good])`, `
{"calls": [{"name": "echo", "args": {"text": "hi", "times": "2"}}, {"name": "sum", "args": {"a": "1.5", "b": 2}}, {"name": "fail"}, {"name": "picture"}, {"name": "echo", "args": {}}]}
{"text": "done"}`)
		if r.text != "done" || r.err != nil {
			t.Fatalf("%s: %q, %v", transport, r.text, r.err)
		}
		told := r.told()
		for i, want := range []string{"echo: hiecho: hi", `{"sum":3.5}`, "error: the disk is full", `["look`, "error: bad arguments"} {
			if len(told) != 5 || !strings.HasPrefix(strings.ReplaceAll(told[i], " ", ""), strings.ReplaceAll(want, " ", "")) {
				t.Errorf("%s: the model was told %q, want %q at %d", transport, told, want, i)
			}
		}
		seen := r.models.Requests()[1].Request.Messages
		last := seen[len(seen)-1]
		if last.Role != model.RoleUser || len(last.Parts) != 2 || last.Parts[1].Image == nil || last.Parts[1].Image.URL != "data:image/png;base64,cG5n" {
			t.Errorf("%s: the picture is not shown: %+v", transport, last)
		}
	}
}

// Promise 24.2 (MCP): a server is data: loading contacts no server, and a run lists the tools of all servers of an
// agent before the agent's first model call. The list and the calls are recorded, so that a replay needs no server.
func TestPromise_24_2_RecordedLists(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) { recordedLists(t, transport) })
	}
}

func recordedLists(t *testing.T, transport string) {
	script := declared(t, "a", "good", transport, `, tools = ["echo"]`) + declared(t, "b", "wire", transport, "") +
		`main = agent(prompt = "Use the tools.", tools = [a, b])`
	const answers = `
{"calls": [{"name": "echo", "args": {"text": "hi"}}, {"name": "go"}]}
{"text": "done"}`
	eng := agentscript.New(agentscript.WithMCP(engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		t.Errorf("loading asks for %s", e.ID())
		return engine.Outcome{}
	})))
	if _, err := eng.Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(strings.ReplaceAll(script, "EXE", `"no-such-command"`))}}, "main.star"); err != nil {
		t.Errorf("a server that is not there is no reason not to load: %v", err)
	}
	var j store.Memory
	first := run(t, client(t), script, answers, agentscript.RunJournal(&j), agentscript.ID("one"))
	if first.text != "done" {
		t.Fatal(first.err)
	}
	if got := first.offered(); !slices.Equal(got, []string{"echo", "go"}) {
		t.Errorf("offered %q", got)
	}
	ids := j.IDs()
	lists := slices.IndexFunc(ids, func(id string) bool { return strings.Contains(id, "/llm0@") })
	for _, id := range ids[:max(lists, 0)] {
		if !strings.Contains(id, "/mcp:") {
			t.Errorf("%s is recorded before the first model call", id)
		}
	}
	if lists != 2 {
		t.Errorf("%d lists of 2 servers are recorded before the first model call: %q", lists, ids)
	}
	slices.Sort(ids)
	var kinds []string
	for _, id := range ids {
		at, _, _ := strings.Cut(id, "@")
		kinds = append(kinds, at[strings.LastIndex(at, "/")+1:])
	}
	if want := []string{"llm0", "llm1", "mcp:a#0", "mcp:b#0", "tool:echo#0", "tool:go#0"}; !slices.Equal(kinds, want) {
		t.Errorf("recorded %q, want %q", kinds, want)
	}
	again := run(t, nil, script, "", agentscript.RunJournal(&j), agentscript.ID("one")) // nothing reaches a server, or is granted
	if again.text != "done" {
		t.Errorf("the replay gives %q, %v", again.text, again.err)
	}
}

// Promise 24.3 (MCP): secrets of servers are referred to by name: their values are in no request, event, record, result
// or error.
func TestPromise_24_3_SecretsOfServers(t *testing.T) {
	t.Parallel()
	const value = "s3cret-value"
	secrets := mcp.WithSecrets(func(name string) (string, bool) { return value, name == "TOKEN" })
	for script, want := range map[string]string{
		`s = mcp(EXE, env = {"` + asServer + `": "good", "TOKEN": secret("TOKEN")})`: "the token is [TOKEN]",
		`s = mcp(EXE, env = {"` + asServer + `": "gone", "TOKEN": secret("TOKEN")})`: "no configuration found: [TOKEN]",
		// Literal secrets in a script are not visible either.
		`s = mcp(EXE, env = {"` + asServer + `": "good", "TOKEN": "` + value + `"})`:                                                                    "the token is [redacted]",
		`s = mcp(EXE, args = ["--header", "X-Key: Bearer ` + value + `"], env = {"` + asServer + `": "gone", "TOKEN": "` + value + `"})`:                `Bearer [redacted]`,
		`s = mcp(url = "` + served(t, remote.TransportHTTP, nil).URL + `/?api_key=` + value + `", headers = {"Authorization": "Bearer ` + value + `"})`: `?api_key=[redacted]`,
	} {
		var j store.Memory
		r := run(t, client(t, secrets), script+"\nmain = agent(prompt = \"x\", tools = [s])", `
{"calls": [{"name": "secret"}]}
{"text": "done"}`, agentscript.RunJournal(&j))
		if text := r.recorded(t, &j); strings.Contains(text, value) || !strings.Contains(text, want) {
			t.Errorf("the secret is seen, or %q is not: %s", want, text)
		}
	}
}

// A secret in a server's output is hidden in whatever form the server writes it: in schemas, progress and results, and
// where the output is cut inside it.
func TestSpeltSecrets(t *testing.T) {
	t.Parallel()
	const value = "s3cret\\\"/+= v\u00e4lue-of-a-token"
	secrets := mcp.WithSecrets(func(name string) (string, bool) { return value, name == "TOKEN" })
	r := run(t, client(t, secrets), `
s = mcp(EXE, env = {"`+asServer+`": "blabs", "TOKEN": secret("TOKEN")})
main = agent(prompt = "x", tools = [s])`, `
{"calls": [{"name": "go"}]}
{"calls": [{"name": "refuse"}]}
{"calls": [{"name": "break"}]}
{"calls": [{"name": "die"}]}
{"text": "done"}`)
	if r.err != nil || len(r.told()) != 4 {
		t.Fatalf("%v, told %q", r.err, r.told())
	}
	all := strings.Join(r.told(), "\n")
	for _, d := range r.models.Requests()[0].Request.Tools {
		all += d.Schema + d.Params.JSONSchema()
	}
	for _, e := range r.events { // progress may come too late to be reported
		all += e.Text()
	}
	for _, part := range []string{value[:10], value[len(value)-10:], "s3cret", "of-a-token", base64.StdEncoding.EncodeToString([]byte("me:" + value))[8:24]} {
		if strings.Contains(all, part) {
			t.Errorf("%q is seen in %q", part, all)
		}
	}
	if strings.Count(all, "[TOKEN]") < 5 {
		t.Errorf("told %q", all)
	}
}

// Promise 24.4 (MCP): nothing is started, contacted or given a secret without a grant, and the error names the flag
// that grants it. A run that has no client for servers reports that.
func TestPromise_24_4_GrantsOfServers(t *testing.T) {
	t.Parallel()
	for script, flag := range map[string]string{
		`s = mcp("n" + "px", args = ["-y", "x"])`:       "--allow-exec npx",
		`s = mcp(url = "https://example.com" + "/mcp")`: "--allow-net example.com",
	} {
		e := run(t, mcp.New(), script+"\nmain = agent(prompt = \"x\", tools = [s])", "").failure(t)
		if e.Code != diag.ServerNotGranted || !strings.Contains(e.Help, flag) || e.Pos.Line != 1 {
			t.Errorf("%v, %s, %s", e, e.Help, e.Pos)
		}
	}
	onlyStart := mcp.New(mcp.WithAllow(func(u capability.Use) error {
		if u.Kind == engine.EffectEnv {
			return os.ErrPermission
		}
		return nil
	}))
	defer onlyStart.Close()
	if e := run(t, onlyStart, `s = mcp(EXE, env = {"T": secret("TO" + "KEN")})`+"\nmain = agent(prompt = \"x\", tools = [s])", "").failure(t); e.Code != diag.ServerNotGranted || !strings.Contains(e.Help, "--allow-env TOKEN") {
		t.Errorf("%v, %s", e, e.Help)
	}
	if e := run(t, nil, `s = mcp("npx")`+"\nmain = agent(prompt = \"x\", tools = [s])", "").failure(t); e.Code != diag.NoServers || !strings.Contains(e.Help, "WithMCP") {
		t.Errorf("%v, %s", e, e.Help)
	}
}

// Promise 24.5 (MCP): tools keep the names that their servers give them where possible. Names that clash become
// server__tool, characters that no provider accepts become _, and names that are too long are shortened and kept
// distinct. Globs select tools, and one that matches none is an error that lists them.
func TestPromise_24_5_NamesOfTools(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) { namesOfTools(t, transport) })
	}
}

func namesOfTools(t *testing.T, transport string) {
	r := run(t, client(t), `def go(): return "local"
`+declared(t, "a", "wire", transport, "")+declared(t, "b", "wire", transport, `, name = "b2"`)+
		declared(t, "odd", "odd", transport, `, tools = ["*", "!cyclic"]`)+`
main = agent(prompt = "x", tools = [go, a, b, odd])`, `
{"calls": [{"name": "go"}, {"name": "a__go"}, {"name": "b2__go"}]}
{"text": "done"}`)
	if r.text != "done" || !slices.Equal(r.told(), []string{"local", "went", "went"}) {
		t.Errorf("%v, %q", r.err, r.told())
	}
	names := r.offered()
	for _, n := range names {
		if len(n) > 64 || strings.Trim(n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			t.Errorf("no provider takes the name %q", n)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != 3+8 || slices.Contains(names, "cyclic") || !slices.Contains(names, "_7up") || !slices.Contains(names, "dotted_name_x") || !slices.Contains(names, "odd__two_words") {
		t.Errorf("offered %q", names)
	}
	for glob, want := range map[string]string{"echoo": `did you mean "echo"`, "x*": "its tools are"} {
		e := run(t, client(t), declared(t, "s", "good", transport, `, tools = ["`+glob+`"]`)+"main = agent(prompt = \"x\", tools = [s])", "").failure(t)
		if e.Code != diag.ServerTools || !strings.Contains(e.Help, want) {
			t.Errorf("%s: %v, %s", glob, e, e.Help)
		}
	}
}

// A rule that forbids a tool by its name on its server still holds when another server has a tool with that name, and
// for characters that providers reject.
func TestRulesOfRenamedTools(t *testing.T) {
	t.Parallel()
	script := `
a = mcp(EXE, env = {"` + asServer + `": "wire"})
b = mcp(EXE, env = {"` + asServer + `": "wire"}, name = "b2")
odd = mcp(EXE, env = {"` + asServer + `": "odd"}, tools = ["*", "!cyclic"])
main = agent(prompt = "x", tools = [a, b, odd])`
	answers := `
{"calls": [{"name": "a__go"}, {"name": "b2__go"}, {"name": "dotted_name_x"}]}
{"text": "done"}`
	for rule, denied := range map[string][]bool{
		"go": {true, true, false}, "G*": {true, true, false}, "a.go": {true, false, false}, "b2__go": {false, true, false},
		"dotted.name/x": {false, false, true}, "dotted_name_x": {false, false, true}, "*": {true, true, true},
	} {
		p, err := policy.New("the host", policy.Rules{Deny: []string{rule}})
		if err != nil {
			t.Fatal(err)
		}
		told := run(t, client(t), script, answers, agentscript.RunPolicy(p)).told()
		for i, text := range told {
			if strings.Contains(text, "is not allowed") != denied[i] {
				t.Errorf("deny %s: call %d comes to %q", rule, i, text)
			}
		}
		if len(told) != len(denied) {
			t.Errorf("deny %s: told %q", rule, told)
		}
	}
	only, err := policy.New("the host", policy.Rules{Allow: []string{"go"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range run(t, client(t), script, answers, agentscript.RunPolicy(only)).told() {
		if !strings.Contains(text, "is not allowed") {
			t.Errorf("allow go, which either server may have meant: %q", text)
		}
	}
}

// Promise 24.6 (MCP): a server whose schemas are wrong causes a typed error that names the tool and says how to
// continue without it. A schema that no type can express is sent to the provider unchanged.
func TestPromise_24_6_SchemasOfServers(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) { schemasOfServers(t, transport) })
	}
}

func schemasOfServers(t *testing.T, transport string) {
	for mode, want := range map[string]string{
		"noobject": `is of "string"`, "large": "256", "twice": "twice", "endless": "does not end",
	} {
		e := run(t, client(t), declared(t, "s", mode, transport, "")+"main = agent(prompt = \"x\", tools = [s])", "").failure(t)
		if mode == "large" {
			want = "262144 at most"
		}
		if e.Code != diag.ServerTools || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v", mode, e)
		}
	}
	r := run(t, client(t), declared(t, "s", "liar", transport, "")+"main = agent(prompt = \"x\", tools = [s])", `
{"calls": [{"name": "lie"}]}
{"text": "done"}`)
	if told := r.told(); r.text != "done" || len(told) != 1 || !strings.Contains(told[0], "not what its output schema says") || !strings.Contains(told[0], "many") {
		t.Errorf("%v: %q", r.err, told)
	}
	if !slices.ContainsFunc(r.events, func(e engine.Event) bool { return e.Err() != nil && e.Err().Code == diag.ServerResult }) {
		t.Error("no event tells of the answer that is not what it was to be")
	}
	r = run(t, client(t), declared(t, "s", "odd", transport, "")+"main = agent(prompt = \"x\", tools = [s])", `
{"calls": [{"name": "remote", "args": {"x": {"any": ["thing"]}}}, {"name": "cyclic", "args": {"next": {"next": {}}}}, {"name": "pattern", "args": {"x": "b"}}]}
{"text": "done"}`)
	if told := r.told(); !slices.Equal(told, []string{"went", "went", "went"}) {
		t.Errorf("%v: %q", r.err, told)
	}
	for _, d := range r.models.Requests()[0].Request.Tools {
		if verbatim := strings.Contains(d.Schema, "https://example.com/schema.json"); verbatim != (d.Name == "remote") {
			t.Errorf("%s is offered with %q", d.Name, d.Schema)
		}
	}
}

// Promise 24.7 (MCP): if a server is lost during a call, the model is told so, with the server's last output and that
// it is unknown whether the call was carried out. The next call reconnects.
func TestPromise_24_7_LostServers(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		script := declared(t, "s", "once", transport, "")
		words := []string{"was lost during the call of go", "is not known"}
		if transport == remote.TransportStdio {
			script = `s = mcp(EXE, env = {"` + asServer + `": "once", "DIED": "` + filepath.Join(t.TempDir(), "died") + `"})` + "\n"
			words = append(words, "(exit status 3)", "out of memory")
		}
		r := run(t, client(t), script+`main = agent(prompt = "x", tools = [s])`, `
{"calls": [{"name": "go"}]}
{"calls": [{"name": "go"}]}
{"text": "done"}`)
		told := r.told()
		if r.text != "done" || len(told) != 2 || told[1] != "went" {
			t.Fatalf("%s: %v: %q", transport, r.err, told)
		}
		for _, w := range words {
			if !strings.Contains(told[0], w) {
				t.Errorf("%s: %q does not say %q", transport, told[0], w)
			}
		}
	}
}
