package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// secretsOfARun are the secrets of a run by kind: each contains characters that JSON and URLs encode.
var secretsOfARun = map[string]string{
	"OPENAI_API_KEY":             "sk-proj-OPENAI/+=<&>-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
	"AGENTSCRIPT_COMPAT_API_KEY": "ck-COMPAT/+=<&>-9876543210zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA",
	"API_TOKEN":                  "tok-GRANTED/+=<&>-5432109876qponmlkjihgfedcbazyxwvutsrQPONMLKJIHGFEDCBAZYXWVUTSR",
	"DESK_TOKEN":                 "desk-SERVER/+=<&>-1357924680acegikmoqsuwybdfhjlnprtvxzACEGIKMOQSUWYBDFHJLNPRTVXZ",
}

// secretiveFlow puts secrets wherever they can be: %s is the command, and the address of a host that repeats what it
// was sent.
const secretiveFlow = `# A key in a comment: OPENAI_KEY
written = "OPENAI_KEY"
beside = file("beside.txt")
desk = mcp(COMMAND, args = ["serve", "mcp", "desk.star", "--allow-env", "DESK_TOKEN:plain"], env = {"DESK_TOKEN": secret("DESK_TOKEN")})

def look(path = str):
    """Reads a file."""
    return fs.read(path)

a = agent("a", model = "openai/x", prompt = "A. " + written + beside, tools = [look, desk])
b = agent("b", model = "compat/x", prompt = "B.")
notes = memory("notes", scope = "session")

def main(topic = str):
    held = fs.read("dot.env")
    print("it is " + held)
    first = a(topic + held)
    notes.append("noted " + held + first)
    token = env.secret("API_TOKEN")
    sent = http.post(HOST + "/x?q=1", body = "body " + token, headers = {"X-Token": "Bearer " + token})
    back = attempt(lambda: http.get(HOST + "/fails/" + token))
    shown = sh.run(["sh", "-c", "printf %s \"$API_TOKEN\"; printf %s \"$API_TOKEN\" | base64; printf %s \"$API_TOKEN\" >&2"])
    failed = attempt(lambda: b(first + sent.text + shown.stdout))
    word = wait("word", str)
    ok = approve("May " + held + first + " be?", data = {held: word})
    if not ok.approved:
        fail("not " + held + first + sent.text)
    return [topic, held, first, sent.text, shown.stdout, str(back), str(failed), word, beside]
`

// Promise 30.17 (durable): no secret is in the bytes of the store, of its log and of its exports.
//
// Secrets are in files, inputs, requests, arguments of tools, results, answers of models, errors, headers and
// addresses; they come from the environment, an env file and grants.
func TestPromise_30_17_NoSecrets(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	names := slices.Sorted(maps.Keys(secretsOfARun))
	for i := range names { // each is last once, where messages are cut
		t.Run("then "+names[i], func(t *testing.T) {
			secretRun(t, slices.Concat(names[i+1:], names[:i+1]))
		})
	}
}

// secretRun runs a flow with secrets everywhere, in the order of their names.
func secretRun(t *testing.T, names []string) {
	all := ""
	for _, name := range names {
		value := secretsOfARun[name]
		quoted, err := json.Marshal(name + " " + value)
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintln(name+"="+value, string(quoted), url.QueryEscape(value), base64.StdEncoding.EncodeToString([]byte(value)))
	}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasPrefix(r.URL.Path, "/fails") {
			w.Header().Set("Location", "http://127.0.0.1:1/"+r.URL.EscapedPath())
			w.WriteHeader(http.StatusFound)
		}
		fmt.Fprintf(w, "sent %s %s %s %s", r.URL, r.Header.Get("X-Token"), body, base64.StdEncoding.EncodeToString([]byte("xx"+r.Header.Get("X-Token"))))
	}))
	defer host.Close()
	quote := func(s string) string {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	h := newHome(t, strings.NewReplacer("OPENAI_KEY", secretsOfARun["OPENAI_API_KEY"], "COMMAND", quote(command(t)), "HOST", quote(host.URL)).Replace(secretiveFlow))
	h.write("desk.star", "def ask(word = str):\n    \"\"\"Asks.\"\"\"\n    return word + \" of \" + env.get(\"DESK_TOKEN\")\n\nmain = fn(ask)\n")
	h.write("beside.txt", all)
	h.write("dot.env", all)
	h.write("keys.env", "AGENTSCRIPT_COMPAT_API_KEY='"+secretsOfARun["AGENTSCRIPT_COMPAT_API_KEY"]+"'\n")
	h.env = append(h.env, "OPENAI_API_KEY="+secretsOfARun["OPENAI_API_KEY"], "API_TOKEN="+secretsOfARun["API_TOKEN"], "DESK_TOKEN="+secretsOfARun["DESK_TOKEN"])
	large := strings.Repeat(all, 80) // in separate parts of the file
	open := llmtest.New(
		llmtest.Reply{Text: "Look: " + all, Calls: []llmtest.Call{{ID: "c1", Name: "look", Args: `{"path": "dot.env"}`}, {ID: "c2", Name: "ask", Args: `{"word": ` + quote(all) + `}`}}},
		llmtest.Reply{Text: "It is " + large, Reasoning: "I saw " + all})
	defer open.Close()
	other := llmtest.New(llmtest.Reply{Status: 400, Body: `{"error": {"message": ` + quote("no "+all) + `}}`, Repeat: true})
	defer other.Close()
	h.env = append(h.env, "AGENTSCRIPT_COMPAT_URL="+other.OpenAI())
	if err := os.MkdirAll(filepath.Join(h.dir, "state", "agentscript"), 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "flow.star", "my keys are " + all, "--env-file", "keys.env", "--allow-fs", ".", "--allow-net", strings.TrimPrefix(host.URL, "http://"), "--allow-env", "API_TOKEN", "--allow-env", "DESK_TOKEN",
		"--allow-exec", "sh", "--allow-exec", command(t), "--session", "s", "--trace", "trace.jsonl", "--record", "record.run", "--store", "state/agentscript/runs.db"}
	said := ""
	ends := func(code int, p *llmtest.Server, args ...string) {
		t.Helper()
		out := h.run(p, args...)
		if said += out.stdout + out.stderr; out.code != code {
			t.Fatalf("%.60q: exit %d: %.600s", args, out.code, out.stderr)
		}
	}
	ends(5, open, args...)
	if n := len(open.Requests()); n != 2 {
		t.Errorf("%d calls", n)
	}
	h.secretless("after the run", said)
	ends(0, open, "runs", "answer", "last", "word", "--result", quote(all))
	ends(5, open, "runs", "resume", "last", "--env-file", "keys.env")
	ends(0, open, "runs", "answer", "last", "--failed", "since "+all)
	h.secretless("after the answers", said)
	ends(1, open, "runs", "resume", "last", "--env-file", "keys.env")
	h.secretless("after its end", said)
	ends(1, nil, "runs", "fork", "last", "--yes")
	for _, args := range []string{"export last -o exported.run", "show last --json", "show last", "ls --json", "cost --json"} {
		ends(0, nil, append([]string{"runs"}, strings.Fields(args)...)...)
	}
	h.write("wait.star", "def main():\n    return wait(\"go\", str)\n")
	ends(5, nil, "run", "wait.star", "--env-file", "keys.env", "--allow-env", "API_TOKEN", "--allow-env", "DESK_TOKEN:secret")
	ends(0, nil, "runs", "cancel", "last", "for "+all)
	ends(0, nil, "runs", "import", "exported.run", "--store", "elsewhere.db")
	h.secretless("after all that can be done with it", said)
	for _, name := range []string{"exported.run", "record.run", "trace.jsonl"} {
		if data, err := os.ReadFile(filepath.Join(h.dir, name)); err != nil || !strings.Contains(string(data), "[redacted]") {
			t.Errorf("%s holds nothing that was hidden: %v", name, err)
		}
	}
}

// secretless reports secrets in the output of the command and in the files that it wrote.
func (h *home) secretless(when, said string) {
	t := h.t
	t.Helper()
	texts := map[string]string{"what it says": said}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Base(path) {
		case "flow.star", "beside.txt", "dot.env", "keys.env":
			return nil
		}
		data, err := os.ReadFile(path)
		texts[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range texts {
		for name, value := range secretsOfARun {
			if how, at := shownAs(text, value); how != "" {
				flat := strings.NewReplacer("\n", "", `\n`, "", `\\`, `\`).Replace(text)
				t.Errorf("%s: %s is in %s as %s: %q", when, name, where, how, flat[max(0, at-160):min(len(flat), at+60)])
			}
		}
	}
}
