package starlib_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// The names that the examples of the reference use, see the head of docs/language.md.
const exampleNames = `
Draft = schema("A draft", title = str, score = int)
Good = schema("It will do", score = int)
Bad = schema("It will not do", reason = str)
Verdict = union("Will it do?", Good, Bad)
writer = agent(prompt = "Write.")
critic = agent(prompt = "Criticise.")
mender_of_texts = agent(prompt = "Mend the text.")
editor_of_drafts = agent(output = Draft, prompt = "Edit.")
again_drafts = agent(input = Draft, prompt = "Edit again.")
praise_drafts = agent(input = Draft, prompt = "Praise.")
judge = agent(output = Verdict, prompt = "Judge.")
praise = agent(input = Good, prompt = "Praise.")
scold = agent(input = Bad, prompt = "Scold.")
mender = agent(input = ToolFailure, prompt = "Mend.")
notebook = memory("notebook")

def look_up(word = str):
    """Looks a word up."""
    return word

`

// Promise 26.142 (sound): the reference and `agentscript doc` show one line of example for each builtin, which loads or runs
// and evaluates to the result shown, and list the members of all values that builtins return.
func TestPromise_26_142_Examples(t *testing.T) {
	u := starlib.Universe()
	reference := u.Reference()
	for _, b := range u.Rows() {
		t.Run(b.QualifiedName(), func(t *testing.T) { example(t, reference, u.Example(b.QualifiedName())) })
	}
	t.Run("results", func(t *testing.T) { namedResults(t, u, reference) })
}

// example runs one line, or only loads it if its value depends on the outside world.
func example(t *testing.T, reference, line string) {
	if line == "" || !strings.Contains(reference, "\n"+line+"\n") {
		t.Fatalf("the example %q is not in the reference", line)
	}
	code, want, evaluates := strings.Cut(line, "  # ")
	name, _, _ := strings.Cut(code, "(")
	module, _, _ := strings.Cut(name, ".")
	src := exampleNames + code + "\nmain = fn(lambda s: s)\n"
	switch {
	case evaluates:
		src = exampleNames + "def main():\n    return repr(" + code + ")\n"
	case module == "t" || strings.Contains(code, "t.dir()"):
		src = exampleNames + "def test_it(t):\n    " + code + "\n"
	case map[string]bool{"sh": true, "http": true, "fs": true, "env": true, `"Bearer " + env`: true, "notebook": true, "phase": true, "approve": true, "sleep": true, "wait": true, "now": true, "random": true, "uuid": true}[module]:
		src = exampleNames + "def main():\n    return " + code + "\n"
	}
	m, found := loadWith(starlib.Options{}, src, "style.md", "Be brief.", "review.json",
		`{"id": "review", "version": "1.0", "agents": [{"name": "judge", "type": "verify", "params": {"task": "Is it short?"}}]}`)
	for _, d := range found {
		if d.Severity == diag.Error && d.Code != diag.NotGranted {
			t.Fatalf("%s\n%s", line, render(m, found))
		}
	}
	if !evaluates {
		return
	}
	out, err := exec(t, m, "{}", nil)
	if got := generable.JSON(out, nil); err != nil || got != generable.JSON(generable.StrOf(want), nil) {
		t.Errorf("%s\nevaluates to %s, %v", line, got, err)
	}
}

// namedResults compares the members that the reference lists with those of the values themselves.
func namedResults(t *testing.T, u *starlib.Table, reference string) {
	values := map[string]string{
		"Decoded":     `Draft.decode("{}")`,
		"Repair":      `Draft.decode("{title: 1}").repairs[0]`,
		"FieldError":  `Draft.decode("{}").errors[0]`,
		"StreamEvent": `Draft.stream().feed("{'title': 'x',")[0]`,
		"Attempt":     `attempt(lambda: 1)`,
		"Failure":     `attempt(lambda: fail("x")).error`,
		"Critique":    `Critique[str](success = True, feedback = "", input = "")`,
		"Remaining":   `budget.remaining()`,
	}
	for _, b := range u.Rows() {
		if strings.ToUpper(b.Returns[:1]) == b.Returns[:1] && b.Returns != "None" && b.Returns != "Secret" && b.Returns != "Intercept" && b.Returns != "Image" && b.Returns != "Audio" {
			if _, known := u.Result(b.Returns); !known {
				t.Errorf("the members of %s, which %s returns, are listed nowhere", b.Returns, b.QualifiedName())
			}
		}
	}
	for name, code := range values {
		typ, known := u.Result(name)
		if !known || !strings.Contains(reference, "### Members of "+name+"\n") {
			t.Errorf("the reference does not list the members of %s", name)
			continue
		}
		m := sound(t, exampleNames+fmt.Sprintf("def main():\n    v = %s\n    return [name for name in %q.split() if not hasattr(v, name)] + [n for n in dir(v) if n not in %q.split()]\n", code, strings.Join(typ.FieldNames(), " "), strings.Join(typ.FieldNames(), " ")))
		if out, err := exec(t, m, "{}", nil); err != nil || generable.JSON(out, nil) != "[]" {
			t.Errorf("%s: other members than listed: %s, %v", name, generable.JSON(out, nil), err)
		}
	}
}
