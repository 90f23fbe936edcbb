package conformance

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
)

// needing is a script that needs something of each kind, in several ways.
const needing = `
docs = mcp("npx", args = ["-y", "server-docs"], env = {"KEY": secret("DOCS_KEY")})
web = mcp(url = "https://mcp.example.com/mcp")

def look(name = str):
    """Looks a name up."""
    return http.post("https://api.example.com:8443/look", json = {"name": name}).text

clerk = agent(model = "ollama/x", prompt = "Look it up.", tools = [look, docs, web])

def main(x = str):
    fs.write("out/a.md", clerk(fs.read("notes/a.md")) + sh.run(["git", "log"]).stdout)
    return fs.read(x) + env.get("LANG") + env.get("API_TOKEN")
`

// needed is a need in the output of `check --format json`.
type needed struct{ Script, Kind, Target, Grant, Server, File string }

// neededBy returns the needs in the JSON output of a check, as "grant for server".
func neededBy(t *testing.T, out output) (list []string, diagnostics int) {
	t.Helper()
	var doc struct {
		Diagnostics []struct{}
		Needs       []needed
	}
	if err := json.Unmarshal([]byte(out.stdout), &doc); err != nil {
		t.Fatalf("%v\n%s", err, out.stdout)
	}
	for _, n := range doc.Needs {
		row := n.Kind + " " + n.Target + ": " + n.Grant
		if n.Server != "" {
			row += " for " + n.Server
		}
		if list = append(list, row); n.Script == "" || n.File == "" {
			t.Errorf("a need without a place: %+v", n)
		}
	}
	return list, len(doc.Diagnostics)
}

// Promise 26.30 (sound): `check` judges only the script: it lists what the script and its MCP servers need from outside,
// with the flags that grant it, on stderr and as `needs` in JSON, and exits 0. A missing file that a script loads or reads
// at the top level is an error. `run`, `serve` and `Engine.Load` refuse a script without its grants as before.
func TestPromise_26_30_NeedsAreNoMistakes(t *testing.T) {
	want := []string{
		"exec npx: --allow-exec npx for docs",
		"env DOCS_KEY: --allow-env DOCS_KEY for docs",
		"net mcp.example.com: --allow-net mcp.example.com for web",
		"net api.example.com:8443: --allow-net api.example.com:8443",
		"write out/a.md: --allow-fs out:rw",
		"read notes/a.md: --allow-fs notes:ro",
		"exec git: --allow-exec git",
		"read *: --allow-fs DIR:ro",
		"env LANG: --allow-env LANG",
		"env API_TOKEN: --allow-env API_TOKEN:plain",
	}
	flow := file(t, "flow.star", needing)
	out := offline(t, "check", "--strict", "--format", "json", flow)
	if got, found := neededBy(t, out); out.code != 0 || found != 0 || !slices.Equal(got, want) {
		t.Errorf("exit code %d\n%s\nwant %q", out.code, out.stdout, want)
	}
	human := offline(t, "check", "--strict", flow)
	stops(t, human, 0, "flow.star: ok\n", "flow.star needs, to run:\n", `  --allow-exec npx `, `the command "npx" of the MCP server docs`, "whose name says it is a secret", "line 2, ")
	for _, n := range want {
		if _, grant, _ := strings.Cut(n, ": "); !strings.Contains(human.stderr, strings.Fields(grant)[1]) {
			t.Errorf("nothing of %s is told:\n%s", grant, human.stderr)
		}
	}
	sarif := offline(t, "check", "--format", "sarif", flow)
	if sarif.code != 0 || !strings.Contains(sarif.stdout, `"results":[]`) && !strings.Contains(sarif.stdout, `"results": []`) {
		t.Errorf("SARIF, exit code %d:\n%s", sarif.code, sarif.stdout)
	}
	stops(t, offline(t, "check", "examples/mcp_files.star"), 0, "--allow-exec npx")

	// A manifest lists the same, and for a script that needs nothing it lists nothing.
	if out := offline(t, "check", "--manifest", flow); out.code != 0 || out.stderr != flow+": ok\n" || !strings.Contains(out.stdout, "git, npx") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if out := offline(t, "check", "--format", "json", "examples/count.star"); strings.Contains(out.stdout, "needs") {
		t.Error(out.stdout)
	}

	// Runs still reject it, and so does loading for a host.
	for _, line := range [][]string{{"run", "-q", flow, "x"}, {"serve", "mcp", flow}} {
		stops(t, offline(t, line...), 3, "AS620", "AS621", "--allow-exec npx")
	}
	if found, _ := checked(needing); len(found) != 10 || found[0].Code != diag.NotGranted {
		t.Errorf("a host finds %s", codes(found))
	}
	mod := loaded(t, agentscript.New(agentscript.WithUngranted()), needing)
	if needs := mod.Needs(); len(needs) != len(want) || needs[0].Server != "docs" || needs[0].Span.Line != 2 || needs[0].Script != "flow.star" {
		t.Errorf("Module.Needs: %+v", mod.Needs())
	}
	// A command that is not a literal is known once the script is composed.
	mod = loaded(t, agentscript.New(agentscript.WithUngranted()), "C = \"np\" + \"x\"\ns = mcp(C)\nmain = agent(prompt = \"x\", skills = [skill(\"a\", \"Does a.\", tools = [s])])\n")
	if needs := mod.Needs(); len(needs) != 1 || needs[0].Target != "npx" || needs[0].Server != "s" {
		t.Errorf("Module.Needs: %+v", needs)
	}

	// Files of the script are not needs.
	stops(t, offline(t, "check", file(t, "a.star", "load(\"lib.star\", \"f\")\nmain = f\n")), 3, "lib.star")
	stops(t, offline(t, "check", file(t, "b.star", "main = agent(prompt = file(\"style.md\"))\n")), 3, "AS602")
}

// Promise 26.31 (sound): with any `--allow-…` flag `check` holds a script to all grants, with exit code 3, and with
// `--allow`, `--ask` and `--deny` to that policy only: a tool that can never be called is an error, and so is a
// rule about an unknown tool.
func TestPromise_26_31_HeldToGrantsAndPolicy(t *testing.T) {
	flow := file(t, "flow.star", needing)
	notes := filepath.ToSlash(t.TempDir())
	stops(t, offline(t, "check", "--allow-env", "LANG", flow), 3, "AS620", "AS621", "--allow-exec npx", "--allow-net api.example.com:8443", "9 errors")
	held := offline(t, "check", "--allow-fs", notes, "--allow-env", "LANG", "--format", "json", flow)
	if got, found := neededBy(t, held); held.code != 3 || found == 0 || len(got) > 0 {
		t.Errorf("exit code %d, needs %q\n%s", held.code, got, held.stdout)
	}
	small := file(t, "small.star", "def main(x = str):\n    return fs.read(x) + env.get(\"LANG\")\n")
	if out := offline(t, "check", "--allow-fs", notes, "--allow-env", "LANG", small); out.code != 0 || strings.Contains(out.stderr, "needs") {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	stops(t, offline(t, "check", "--net-proxy", "http://proxy.example:8080", flow), 0, "needs, to run")

	for _, row := range []struct {
		rules string // words of the command
		code  int
		words string // separated by |
	}{
		{"--deny look", 3, `AS624|the tool "look" is denied|the rule deny look of the command line|:9:68`},
		{"--deny look(name=a*)", 0, ""},
		{"--deny LOOK", 3, `"look"`},
		{"--deny *", 3, `"look"|every tool of the MCP server "docs"|every tool of the MCP server "web"`},
		{"--deny docs.*", 3, `every tool of the MCP server "docs"`},
		{"--deny docs.read_*", 0, ""},
		{"--deny @once", 3, `"look"|"docs"|"web"`},
		{"--deny @read", 0, ""},
		{"--allow look", 0, ""},
		{"--allow look(name=a*)", 0, ""},
		{"--allow @read", 3, `no allow rule of the command line names it|"look"|"docs"`},
		{"--allow read_*", 3, `"look"`},
		{"--allow read_* --ask look", 0, ""},
		{"--ask @once", 0, ""},
		{"--deny look(", 2, "cannot be read"},
		{"--deny look(nam=a)", 2, `did you mean "name"`},
	} {
		out := offline(t, append(append([]string{"check"}, strings.Fields(row.rules)...), flow)...)
		words := strings.Split(row.words, "|")
		if row.code == 3 {
			words = append(words, "AS624")
		}
		if row.code != 2 {
			words = append(words, "needs, to run") // only the policy
		}
		if stops(t, out, row.code, words...); strings.Contains(out.stderr, "AS620") || row.code == 3 && strings.Contains(out.stderr, ": ok") {
			t.Errorf("%s:\n%s", row.rules, out.stderr)
		}
	}
	// The script's own rules may also leave an agent without a tool.
	own := file(t, "own.star", "def look(q = str):\n    \"\"\"Looks.\"\"\"\n    return sh.run([\"git\", \"log\", q]).stdout\n\n"+
		"main = agent(prompt = \"Look.\", tools = [look], policy = policy(allow = [\"look\"], deny = [\"@once\"]))\n")
	stops(t, offline(t, "check", own), 0, "warning[AS624]", `the tool "look" is denied`, "the rule deny @once of the script")
	stops(t, offline(t, "check", "--strict", own), 3, "AS624")
	// A rule may be about a tool of any of several scripts.
	stops(t, offline(t, "check", "--deny", "look(name=a*)", flow, "examples/count.star"), 0)
	stops(t, offline(t, "check", "--deny", "lok", "examples/tools.star", "examples/count.star"), 2, `"lok"`)
}
