package conformance

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// Promise 27.44 (desk): `check`, `doc` and the stub for editors know `t` and its methods.
func TestPromise_27_44_CheckKnowsT(t *testing.T) {
	u := starlib.Universe()
	methods := 0
	_, stub, _ := strings.Cut(u.Stub(), "\nclass Test:\n")
	for _, b := range u.Rows() {
		if b.Of != "t" {
			continue
		}
		methods++
		if b.Doc == "" || u.Example(b.QualifiedName()) == "" {
			t.Errorf("%s has no documentation or no example", b.QualifiedName())
		}
		if !strings.Contains(stub, "    def "+b.Name+"(self") {
			t.Errorf("the stub has no %s", b.QualifiedName())
		}
	}
	if methods < 20 {
		t.Errorf("t has %d methods", methods)
	}
	for line, want := range map[string]string{
		`t.rply("helper", "x")`:          "AS209", // a method that does not exist
		`t.eq(1)`:                        "AS203", // a missing argument
		`t.eq(1, 2, 3)`:                  "AS204", // an argument of the wrong type
		`t.fail("helper", "ratelimit")`:  "AS204",
		`t.reply("helpr", "x")`:          "AS804", // an agent that does not exist
		`return t.cost + "x"`:            "AS219", // the types of its attributes
		`t.request("helper").anser`:      "AS209", // the members of its results
		`t.reply("helper", "x", "y")`:    "",
		`t.each([1], lambda t, r: None)`: "",
	} {
		src := "helper = agent(prompt = \"Help.\")\n\ndef test_it(t):\n    helper(\"x\")\n    " + line + "\n"
		found, _ := agentscript.New().Check(t.Context(), fstest.MapFS{"it_test.star": {Data: []byte(src)}}, "it_test.star")
		var codes []string
		for _, d := range found {
			codes = append(codes, string(d.Code))
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
	for _, load := range []string{`load("later.star", "main")`, `load("other.star", "main")`} { // what cannot be loaded may contain the agent
		src := load + "\n\ndef test_it(t):\n    t.reply(\"sort\", t.call(\"find\"))\n    t.approve(\"find\")\n    t.eq(main(\"x\"), \"y\")\n"
		found, _ := agentscript.New().Check(t.Context(), fstest.MapFS{"it_test.star": {Data: []byte(src)}, "other.star": {Data: []byte("x = 1\n")}}, "it_test.star")
		if len(found) != 1 || found[0].Code != diag.LoadFailed {
			t.Errorf("%s: %v", load, found)
		}
	}
	found, _ := agentscript.New().Check(t.Context(), fstest.MapFS{"it_test.star": {Data: []byte("def test_it(t, u):\n    pass\n")}}, "it_test.star")
	if len(found) != 1 || found[0].Code != diag.BadTest {
		t.Errorf("a test with two parameters: %v", found)
	}
}
