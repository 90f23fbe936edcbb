package conformance

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// Promise 16.9 (check): check prints its findings for people, as JSON and as SARIF, with the same codes and positions.
func TestPromise_16_9_Formats(t *testing.T) {
	path := file(t, "f.star", "a = agent(output = int, prompt = \"A.\")\nb = agent(prompt = \"B.\") >> pick(\"x\")\nmain = a >> agent(name = \"c\", prompt = \"B.\")\n")
	human := offline(t, "check", path)
	if human.code != 3 || !strings.Contains(human.stderr, "error[AS301]") || !strings.Contains(human.stderr, "f.star:3:10") || !strings.Contains(human.stderr, "error[AS311]") {
		t.Errorf("for people, exit code %d:\n%s", human.code, human.stderr)
	}
	var doc struct {
		Diagnostics []struct {
			Code, Severity string
			Line           int
		}
	}
	plain := offline(t, "check", "--format", "json", path)
	if err := json.Unmarshal([]byte(plain.stdout), &doc); err != nil || plain.code != 3 || len(doc.Diagnostics) != 2 || doc.Diagnostics[0].Code+doc.Diagnostics[1].Code != "AS311AS301" {
		t.Errorf("as JSON, exit code %d, %v:\n%s", plain.code, err, plain.stdout)
	}
	var sarif struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				Locations     []struct {
					PhysicalLocation struct {
						Region struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	out := offline(t, "check", "--format", "sarif", path)
	if out.code == 2 {
		t.Skip("not built: check --format sarif")
	}
	if err := json.Unmarshal([]byte(out.stdout), &sarif); err != nil || out.code != 3 || sarif.Version != "2.1.0" || len(sarif.Runs) != 1 || len(sarif.Runs[0].Results) != 2 {
		t.Fatalf("as SARIF, exit code %d, %v:\n%s", out.code, err, out.stdout)
	}
	if r := sarif.Runs[0].Results[1]; r.RuleID != "AS301" || r.Level != "error" || r.Locations[0].PhysicalLocation.Region.StartLine != 3 || r.Locations[0].PhysicalLocation.Region.StartColumn != 10 {
		t.Errorf("the second result is %+v", r)
	}
	warned := file(t, "g.star", "idle = agent(prompt = \"B.\")\nmain = agent(prompt = \"A.\")\n")
	for format, want := range map[string]string{"json": `"severity":"warning"`, "sarif": `"level":"warning"`} {
		if out := offline(t, "check", "--format", format, warned); out.code != 0 || !strings.Contains(out.stdout, want) {
			t.Errorf("a warning as %s, exit code %d:\n%s", format, out.code, out.stdout)
		}
	}
	if len(sarif.Runs[0].Tool.Driver.Rules) != 2 {
		t.Errorf("the rules are %v", sarif.Runs[0].Tool.Driver.Rules)
	}
}

// Promise 16.10 (check): the cost of checking grows with the length of a script and with the number of nodes of a
// graph, whatever composes them: 10,000 nodes take ten times as much as 1,000.
func TestPromise_16_10_Growth(t *testing.T) {
	unraced(t)
	const parts = "def o():\n    return fn(lambda n: n, input = int, output = int)\n"
	for name, main := range map[string]string{
		"then":    "main = then([o() for _ in range(%d)])",
		"par":     "main = par([o() for _ in range(%d)])",
		">>":      "held = [o() >> o()]\ndef grow():\n    for _ in range(%d):\n        held[0] = held[0] >> o()\n    return held[0]\nmain = grow()",
		"/":       "held = [o() / o()]\ndef grow():\n    for _ in range(%d):\n        held[0] = held[0] / o()\n    return held[0]\nmain = grow()",
		"*":       "held = [o() * o()]\ndef grow():\n    for _ in range(%d):\n        held[0] = held[0] * o()\n    return held[0]\nmain = grow()",
		"nested":  "def deep():\n    n = o()\n    for i in range(%d // 10):\n        n = then(o(), n)\n    return n\nmain = deep()",
		"race":    "main = race([o() for _ in range(%d)])",
		"graph":   "def ring(count):\n    ns = [o() for _ in range(count)]\n    return graph(ns[0], [edge(ns[i], ns[i + 1], when = ge(i)) for i in range(count - 1)] + [edge(ns[i], FINISH) for i in range(count)])\nmain = ring(%d)",
		"when":    "main = branch(o(), [when(eq(i * 7919 %% 20011), o()) for i in range(%d)], otherwise = o())",
		"ranges":  "main = branch(o(), [when(lt(i), o()) for i in range(%d)] + [when(ge(0), o())])",
		"texts":   "main = branch(fn(str, input = int, output = str), [when(eq(\"t%%d\" %% i), fn(int, input = str, output = int)) for i in range(%d)], otherwise = fn(int, input = str, output = int))",
		"enum":    "vs = [\"v%%d\" %% i for i in range(%d)]\nE = enum(*vs)\nmain = branch(fn(E, input = str, output = E), {v: fn(int, input = str, output = int) for v in vs})",
		"guards":  "def star(count):\n    s = o()\n    return graph(s, [edge(s, o(), when = eq(i)) for i in range(count)] + [edge(s, o())])\nmain = star(%d)",
		"union":   "Ts = [schema(\"T\", _name = \"T%%d\" %% i) for i in range(%d)]\nU = union(*Ts)\nmain = branch(fn(lambda n: Ts[n](), input = int, output = U), {T: fn(lambda t: 1, input = T, output = int) for T in Ts})",
		"members": "S = schema(\"S\", **{\"f%%d\" %% i: int for i in range(%d // 20)})\nmain = fn(lambda n: str(S), input = int, output = any)",
	} {
		src := func(n int) string { return parts + fmt.Sprintf(main, n) + "\n" }
		load := func(n int) cost {
			text := src(n)
			if _, found := starlib.Load(t.Context(), starlib.Options{Entry: "flow.star", Source: []byte(text)}); len(found) > 0 {
				t.Fatalf("%s: %v", name, found)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			starlib.Load(t.Context(), starlib.Options{Entry: "flow.star", Source: []byte(text)})
			runtime.ReadMemStats(&after)
			got := cost{float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)}
			t.Logf("%s of %d: %.0f allocations, %.0f bytes", name, n, got.allocs, got.bytes)
			return got
		}
		small, large := load(1000), load(10_000)
		if large.allocs > 13*small.allocs || large.bytes > 16*small.bytes {
			t.Errorf("%s: 1,000 nodes take %.0f allocations and %.0f bytes, 10,000 %.0f and %.0f", name, small.allocs, small.bytes, large.allocs, large.bytes)
		}
	}
}

// Promise 16.11 (check): `typeof` and `describe` show a script and its author what a node is: its types and its parts.
func TestPromise_16_11_Told(t *testing.T) {
	computes(t, `["int -> list[str]",true,["pipeline: int -> list[str]","  fn: int -> int","  parallel: int -> list[str]","    fn: int -> str","    fn: int -> str"]]`, numbered+`
flow = [inc() >> word("a") / word("b")]
def got():
    return [str(typeof(flow[0])), typeof(3) == int, [line.split("  (")[0] for line in describe(flow[0]).split("\n")]]
`)
	computes(t, `["Attempt[int]","list[Attempt[int]]","Critique[str]"]`, numbered+`
flows = [attempt(inc()), par(inc(), double(), on_error = "keep"), verify(task = "x", name = "v")]
def got():
    return [str(typeof(f)).split(" -> ")[1] for f in flows]
`)
}

// Promise 16.12 (check): graph draws a composition as mermaid, dot, svg and json, with the types on its edges and the
// conditions of its routes; the svg is self-contained and needs no network.
func TestPromise_16_12_Drawings(t *testing.T) {
	path := file(t, "f.star", `
Good = schema("Good", n = int)
Bad = schema("Bad", why = str)
V = union("V", Good, Bad)
judge = agent(output = V, prompt = "Judge.")
again = agent(name = "again", input = Bad, prompt = "Again.")
main = graph(judge, [edge(judge, FINISH, when = Good, map = pick("n")), edge(judge, again), edge(again, FINISH, when = matches("^done"), map = lambda s: len(s)), edge(again, judge)], output = any)
`)
	for _, format := range []string{"mermaid", "dot", "svg", "json"} {
		out := offline(t, "graph", "--format", format, path)
		if out.code != 0 {
			t.Errorf("%s: exit code %d\n%s", format, out.code, out.stderr)
			continue
		}
		for _, want := range []string{"judge", "again", "Good", "Bad", "str", "done"} {
			if !strings.Contains(out.stdout, want) {
				t.Errorf("%s does not show %q:\n%s", format, want, out.stdout)
			}
		}
		switch format {
		case "json":
			if !json.Valid([]byte(out.stdout)) {
				t.Errorf("this is no JSON:\n%s", out.stdout)
			}
		case "svg":
			dec := xml.NewDecoder(strings.NewReader(out.stdout))
			for {
				tok, err := dec.Token()
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("the svg is no XML: %v", err)
				}
				if e, ok := tok.(xml.StartElement); ok {
					for _, a := range e.Attr {
						if regexp.MustCompile(`^(https?:|//|data:)`).MatchString(a.Value) && a.Name.Local != "xmlns" || strings.Contains(a.Value, "url(http") || e.Name.Local == "image" || e.Name.Local == "script" {
							t.Errorf("the svg asks for %s = %s", a.Name.Local, a.Value)
						}
					}
				}
			}
		}
	}
}

// Promise 16.13 (check): for every code that loading can report, a golden file shows the message as a person sees it,
// and the script of that file begins with the code.
func TestPromise_16_13_GoldenRows(t *testing.T) {
	scripts, err := filepath.Glob(repository("starlib/testdata/errors/*.star"))
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	named := map[string]bool{}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		golden, err := os.ReadFile(strings.TrimSuffix(script, ".star") + ".golden")
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), ":")
		for _, code := range strings.Fields(strings.TrimPrefix(head, "#")) {
			if named[code] = true; !strings.Contains(string(golden), "["+code+"]") {
				t.Errorf("%s names %s, and its golden file does not show it", script, code)
			}
		}
	}
	// What no script alone can cause: composing after loading, and reports about models.
	elsewhere := map[diag.Code]string{diag.SealedNode: "engine/flow/place_test.go", diag.ComposedWhileRunning: "testdata/script/run_codes.txtar", diag.SchemaTooLarge: "testdata/script/check_schemas.txtar", diag.NoConstraint: "testdata/script/check_schemas.txtar"}
	for _, e := range diag.Entries() {
		family := e.Code[2]
		if family > '5' {
			continue
		}
		if at := elsewhere[e.Code]; at != "" {
			text, err := os.ReadFile(repository(at))
			if err != nil || !strings.Contains(string(text), string(e.Code)) {
				t.Errorf("%s is not shown by %s: %v", e.Code, at, err)
			}
		} else if !named[string(e.Code)] {
			t.Errorf("no script of the golden files begins with %s (%s)", e.Code, e.Title)
		}
	}
}

// Promise 16.14 (check): a flow in JSON is read with its comments and checked for names, members, conditions,
// transitions that are never taken, gaps, ends and cycles, all at once; each finding has a code, a line, a JSON
// pointer and a remedy. Formatting such a file as a script is refused with the reason.
func TestPromise_16_14_FlowJSON(t *testing.T) {
	goldens, err := filepath.Glob(repository("flowjson/testdata/AS9*.json"))
	if err != nil || len(goldens) < 17 {
		t.Fatal(goldens, err)
	}
	for _, path := range goldens {
		path = "flowjson/testdata/" + filepath.Base(path)
		code, _, _ := strings.Cut(filepath.Base(path), "_")
		out := offline(t, "check", "--format", "json", path)
		if out.code != 0 && out.code != 3 || !strings.Contains(out.stdout, code) {
			t.Errorf("%s: exit code %d\n%s%s", path, out.code, out.stdout, out.stderr)
		}
		if out = offline(t, "check", path); !strings.Contains(out.stderr, "help: ") {
			t.Errorf("%s: no remedy\n%s", path, out.stderr)
		}
	}
	const sound = "flowjson/testdata/sound.json"
	if out := offline(t, "check", "--strict", sound); out.code != 0 {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	stops(t, offline(t, "fmt", sound), 2, "AS918", "agentscript convert")
}
