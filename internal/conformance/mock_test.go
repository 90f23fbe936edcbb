package conformance

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm/mock"
)

// acting has tools that read, that act, and that delegate, and uses capabilities itself.
const acting = `
Receipt = schema("A receipt", id = field(str, pattern = "^R-[0-9]{4}$"), paid = bool)

def look(name = str):
    """Looks a name up in the notes."""
    return fs.read("notes.md") + name

def pay(amount = field(int, ge = 1, le = 5)):
    """Pays."""
    fs.write("paid.txt", str(amount))
    return Receipt(id = "R-0000", paid = True)

helper = agent(prompt = "Help.")
clerk = agent(prompt = "Serve.", tools = [
    tool(look, effect = "read"),
    tool(pay, returns = Receipt),
    as_tool(helper, "help", "Helps."),
])

def main(request = str):
    answer = clerk(request)
    fs.write("log.txt", answer)
    code = sh.run(["make", "it"]).code
    return "%s, exit code %d" % (answer, code)
`

// around has what surrounds an agent: a server, notes, and a tool that waits for another one.
const around = `
def first(x = str):
    """Comes first."""
    return x

main = agent("clerk", prompt = "Serve.", memory = memory("notes"), tools = [mcp("nowhere", name = "files"),
    tool(first, name = "second", only_after = "first"), first])
`

// Promise 26.60 (sound): run --mock answers from the types, without a key or rows: seeded, with each variant of a union
// in turn. Tools that only read are called; all others are answered with a value and listed, unless --mock-acts is given;
// flags that conflict with it are refused. The README's first flow runs with it.
func TestPromise_26_60_Mock(t *testing.T) {
	readme, err := os.ReadFile(repository("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile("(?s)```python title=ship.star\n(.*?)```").FindSubmatch(readme)
	if first == nil {
		t.Fatal("the README has no first flow")
	}
	t.Chdir(files(t, "ship.star", string(first[1]), "act.star", acting, "around.star", around, "notes.md", "the key is on the hook "))
	shipped := same(t, 20, "run", "--json", "--mock", "ship.star", "x = 1")
	if shipped.code != 0 || !strings.HasPrefix(shipped.stdout, "Deployed with confidence 0.") {
		t.Errorf("exit code %d, %s\n%s", shipped.code, shipped.stdout, shipped.stderr)
	}
	if out := inside(t, "run", "--mock", "around.star", "x"); out.code != 0 || !strings.Contains(out.stderr, "replaced by a value: MCP server files, which was not granted\n") ||
		!strings.Contains(out.stderr, "3 model calls") || strings.Contains(out.stderr, "denied") {
		t.Errorf("exit code %d, %s\n%s", out.code, out.stdout, out.stderr)
	}
	stops(t, inside(t, "run", "--mock", "--mock-acts", "around.star", "x"), 6, "AS633")
	if other := inside(t, "run", "-q", "--mock", "--seed", "1", "ship.star", "x = 1"); other.stdout != "Rejected: [mock] reason of judge\n" {
		t.Errorf("another seed gives %s%s", other.stdout, other.stderr)
	}

	// Nothing is bought, so a bound in money needs no model with a price.
	if out := inside(t, "run", "-q", "--mock", "--max-usd", "0.01", "ship.star", "x = 1"); out.code != 0 || !strings.HasPrefix(out.stdout, "Deployed") {
		t.Errorf("with a bound in money: exit code %d, %s%s", out.code, out.stdout, out.stderr)
	}

	out := same(t, 5, "run", "-v", "--mock", "--allow-fs", ".", "act.star", "pay")
	if out.code != 0 || out.stdout != "[mock] clerk, exit code 0\n" {
		t.Errorf("exit code %d, %s\n%s", out.code, out.stdout, out.stderr)
	}
	for _, says := range []string{"the key is on the hook [mock] name of tool look", "[mock] helper", "mocked", "not called, replaced by a value: fs.write, pay, sh.run", "--mock-acts calls them"} {
		if !strings.Contains(out.stderr, says) {
			t.Errorf("stderr lacks %q:\n%s", says, out.stderr)
		}
	}
	if receipts := regexp.MustCompile(`result clerk .*pay +\{"id":"R-\d{4}","paid":true\}`); !receipts.MatchString(out.stderr) {
		t.Errorf("stderr has no receipt:\n%s", out.stderr)
	}
	for _, name := range []string{"paid.txt", "log.txt"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if out := inside(t, "run", "-v", "--mock", "--allow-fs", ".", "--deny", "pay", "act.star", "pay"); !strings.Contains(out.stderr, "the rule deny pay") || strings.Contains(out.stderr, "stood in: fs.write, pay") {
		t.Errorf("a rule that denies a mocked tool: exit code %d\n%s", out.code, out.stderr)
	}
	if out := inside(t, "run", "-q", "--mock", "act.star", "pay"); out.code != 0 || !strings.HasPrefix(out.stdout, "[mock] clerk") {
		t.Errorf("without grants: exit code %d\n%s", out.code, out.stderr)
	}
	if out := inside(t, "run", "-q", "--mock", "--mock-acts", "--allow-fs", ".:rw", "act.star", "pay"); out.code == 0 || !strings.Contains(out.stderr, "--allow-exec make") {
		t.Errorf("--mock-acts with a command that is not granted: exit code %d\n%s", out.code, out.stderr)
	}
	if paid, err := os.ReadFile("paid.txt"); err != nil || len(paid) != 1 {
		t.Errorf("--mock-acts has written %q, %v", paid, err)
	}

	for _, flags := range [][]string{{"--scripted", "x.jsonl"}, {"--replay", "x.jsonl"}, {"--record", "x.jsonl"}, {"--cache", "x"}, {"--model", "openai/gpt-5"}, {"--fallback", "openai/gpt-5"}, {"--session", "s"}} {
		if out := inside(t, append([]string{"run", "--mock", "ship.star", "x"}, flags...)...); out.code != 2 || !strings.Contains(out.stderr, "--mock and "+flags[0]) {
			t.Errorf("--mock %s: exit code %d\n%s", flags, out.code, out.stderr)
		}
	}
	if out := inside(t, "run", "ship.star", "x", "--mock-acts"); out.code != 2 || !strings.Contains(out.stderr, "with --mock alone") {
		t.Errorf("--mock-acts alone: exit code %d\n%s", out.code, out.stderr)
	}

	models := mock.New(mock.Options{})
	mod, err := agentscript.New(agentscript.WithModels(models)).Load(t.Context(), os.DirFS("."), "ship.star")
	if err != nil {
		t.Fatal(err)
	}
	res, err := mod.Start(t.Context(), agentscript.VirtualTime(), input("x")).Wait()
	if err != nil || res.Text()+"\n" != shipped.stdout || len(models.Stood()) > 0 {
		t.Errorf("in Go: %s, %v", res.Text(), err)
	}
}

// Promise 26.61 (sound): a mocked answer satisfies pattern, format and check, or the error names the field; a loop
// that a mock cannot end stops at its max with a hint.
func TestPromise_26_61_MockLimits(t *testing.T) {
	t.Chdir(files(t, "limits.star", `
Part = schema("A part", code = field(str, pattern = "^[A-Z]{3}-\\d{2,4}$"), made = field(str, format = "date"),
    mail = field(str, format = "email"), weight = field(float, gt = 0, lt = 0.01), boxes = field(list[int], min_len = 3, unique = True))
Order = schema("An order", parts = field(list[Part], min_len = 1, max_len = 2), total = field(int, check = ge(1000) | eq(0)),
    word = field(str, check = matches("^a.*z$")), of = field(str, max_len = 3), next = field(ref("Order") | None, default = None))
orders = agent(output = Order, prompt = "Order.")
main = orders.each()
`, "unmet.star", `
Part = schema("A part", code = field(str, pattern = "^[a-z]{9}$", max_len = 3))
Order = schema("An order", parts = field(list[Part], min_len = 1))
main = agent(name = "buyer", output = Order, prompt = "Order.")
`, "loop.star", `
step = agent(prompt = "Go on.")
main = loop(step, lambda v: v, max = 5)
`, "until.star", `
step = agent(prompt = "Go on.")
main = retry(step, 4, until = lambda s: "done" in s)
`, "forever.star", `
step = agent(prompt = "Go on.")
def main():
    while True:
        step("x")
`))
	inputs := "[" + strings.Repeat(`"x", `, 99) + `"x"]`
	if out := same(t, 3, "run", "--json", "--mock", "limits.star", inputs); out.code != 0 || strings.Contains(out.stderr, `"kind":"repair"`) {
		t.Errorf("exit code %d\n%s\n%s", out.code, out.stdout, out.stderr)
	}
	if out := inside(t, "run", "-q", "--mock", "unmet.star", "x"); out.code != 1 || !strings.Contains(out.stderr, "AS736") || !strings.Contains(out.stderr, `agent "buyer" cannot be mocked: parts[0].code of buyer`) {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	for file, code := range map[string]int{"loop.star": 1, "until.star": 1, "forever.star": 4} {
		args := []string{"run", "-q", "--mock", file, "x"}
		if file == "forever.star" {
			args = args[:4]
		}
		if out := same(t, 2, args...); out.code != code || !strings.Contains(out.stderr, "mocked answers mean nothing") {
			t.Errorf("%s: exit code %d\n%s", file, out.code, out.stderr)
		}
	}
}
