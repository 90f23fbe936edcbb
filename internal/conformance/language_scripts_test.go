package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
)

// Promise 2.9 (language): `main` may be a node, whose type converts the input, or a function, whose parameters are its
// input.
func TestPromise_2_9_MainNode(t *testing.T) {
	text, args := agentscript.InputText, agentscript.Args
	const echo = "main = fn(lambda x: [str(typeof(x)), x], input = T, output = list[any])\n"
	for _, c := range []struct {
		name, declared string
		in             agentscript.RunOption
		want           string
	}{
		{"a str is taken verbatim", "T = str", text(`{"a": 1}`), `["str","{\"a\": 1}"]`},
		{"an int of text", "T = int", text("42"), `["int",42]`},
		{"an int widens to float", "T = float", text("2"), `["float",2.0]`},
		{"a Go int widens to float", "T = float", input(2), `["float",2.0]`},
		{"a list", "T = list[float]", text("[1, 2.5]"), `["list[any]",[1.0,2.5]]`},
		{"None", "T = str | None", input(nil), `["None",null]`},
		{"a schema, with its defaults", `T = schema("T", n = float, tag = field(str, default = "x"))`, text(`{"n": 1}`), `["T",{"n":1.0,"tag":"x"}]`},
		{"a schema from a Go map", `T = schema("T", n = float, tag = field(str, default = "x"))`, input(map[string]any{"n": 1}), `["T",{"n":1.0,"tag":"x"}]`},
		{"a variant by its tag", `
A = schema("A", n = int)
B = schema("B", n = int)
T = union("T", A, B)`, text(`{"type": "B", "n": 1}`), `["B",{"type":"B","n":1}]`},
	} {
		t.Run("node/"+c.name, func(t *testing.T) { gives(t, c.want, c.declared+"\n"+echo, c.in) })
	}
	const flags = `
def main(title = str, n = field(int, "tries", ge = 1, default = 3), share = 0.5, tags = list[str], note = str | None):
    """Does it.

    Args:
      title: what it is called
    """
    return [title, n, share, tags, note]
`
	gives(t, `["t",3,0.5,["a"],null]`, flags, args(map[string]any{"title": "t", "tags": []string{"a"}}))
	gives(t, `["t",9,1.0,[],"n"]`, flags, args(map[string]any{"title": "t", "n": 9, "share": 1, "tags": []string{}, "note": "n"}))
	entry, d := loaded(t, agentscript.New(), flags).Main()
	if d != nil {
		t.Fatal(d)
	}
	var params []string
	for _, p := range entry.Params {
		s := p.Name + ": " + p.Type.String() + " " + p.Guide
		if !p.Optional {
			s += " (required)"
		}
		params = append(params, s)
	}
	if got, want := strings.Join(params, "; "), "title: str what it is called (required); n: int tries; share: float ; tags: list[str]  (required); note: str | None "; got != want || entry.Doc != "Does it." {
		t.Errorf("main is described as %q %q, want %q", entry.Doc, got, want)
	}

	const node = "main = fn(lambda n: n, input = int, output = int)\n"
	one := func(o agentscript.RunOption) []agentscript.RunOption { return []agentscript.RunOption{o} }
	fails(t, diag.BadInput, node, one(text("forty")), "int")
	fails(t, diag.BadInput, node, nil, "int", "but got nothing")
	fails(t, diag.BadInput, flags, nil, "title", "what it is called")
	fails(t, diag.BadInput, flags, one(args(map[string]any{"title": "t", "tags": []string{}, "nn": 1})), "nn", `did you mean "n"?`)
	fails(t, diag.BadInput, flags, one(args(map[string]any{"title": 1, "tags": []string{}})), "title", "str")
	fails(t, diag.BadInput, flags, one(args(map[string]any{"title": "t", "tags": []string{}, "n": 0})), "n", "at least 1")
	fails(t, diag.NoMain, "other = fn(lambda n: n)\n", nil, "no main")
	if found, shown := checked("main = 3\n"); codes(found) != string(diag.NoMain) {
		t.Errorf("main = 3:\n%s", shown)
	}
}

// Promise 2.10 (language): `load()` imports names from other files below the script's directory; files that load each
// other in a cycle are an error that shows the cycle.
func TestPromise_2_10_Load(t *testing.T) {
	const lib = `
T = schema("A T", n = int)
def make(k):
    return agent(name = "made" + k, input = str, output = T, run = lambda s: T(n = len(s)))
_hidden = 1
`
	mod := loaded(t, agentscript.New(), `
load("lib/parts.star", "make", Kind = "T")
load("lib/more.star", "shout")
main = make("x") >> fn(lambda v: shout(str(v.n + (1 if isinstance(v, Kind) else 0))), input = Kind, output = str)
`, "lib/parts.star", lib, "lib/more.star", "load(\"deep/er.star\", \"mark\")\ndef shout(s):\n    return s + mark\n", "lib/deep/er.star", "mark = '!'\n")
	res, err := mod.Start(t.Context(), input("abc")).Wait()
	if err != nil || res.Text() != "4!" {
		t.Errorf("got %q, %v", res.Text(), err)
	}

	for _, c := range []struct {
		name, src, codes string
		files            []string
		words            []string
	}{
		{"a circle", "load(\"a.star\", \"x\")\n", "AS212", []string{"a.star", "load(\"b.star\", \"y\")\nx = y\n", "b.star", "load(\"a.star\", \"x\")\ny = x\n"}, []string{"a.star → b.star → a.star"}},
		{"a circle through the script", "load(\"a.star\", \"x\")\ny = 1\n", "AS212", []string{"a.star", "load(\"flow.star\", \"y\")\nx = y\n"}, []string{"flow.star → a.star → flow.star", "third file"}},
		{"itself", "load(\"flow.star\", \"x\")\n", "AS212", nil, []string{"flow.star loads itself"}},
		{"no file", "load(\"partz.star\", \"x\")\n", "AS211", []string{"parts.star", "x = 1\n"}, []string{"no such file", `did you mean "parts.star"?`}},
		{"no name", "load(\"parts.star\", \"maek\")\n", "AS211", []string{"parts.star", "def make():\n    return 1\n"}, []string{"does not define maek", `did you mean "make"?`}},
		{"outside", "load(\"../parts.star\", \"x\")\n", "AS601", nil, []string{"leads out of the script's directory"}},
		{"absolute", "load(\"/parts.star\", \"x\")\n", "AS601", nil, []string{"absolute path"}},
		{"errors of the loaded file", "load(\"parts.star\", \"a\")\nmain = a >> agent(prompt = \"B.\")\n", "AS202", []string{"parts.star", "a = agent(promt = \"A.\")\n"}, []string{"parts.star:1:11", `did you mean "prompt"?`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, shown := checked(c.src, c.files...)
			if got := codes(found); got != c.codes {
				t.Errorf("found %q, want %q\n%s", got, c.codes, shown)
			}
			for _, w := range c.words {
				if !strings.Contains(shown, w) {
					t.Errorf("this does not say %q:\n%s", w, shown)
				}
			}
		})
	}
}

// Promise 2.11 (language): `file()` reads files below the script's directory and nowhere else, not even through a
// symbolic link.
func TestPromise_2_11_File(t *testing.T) {
	mod := loaded(t, agentscript.New(), `
load("lib/parts.star", "deep")
style = file("docs/style.md")
main = fn(lambda s: style + deep + s, input = str, output = str)
`, "docs/style.md", "be brief\n", "lib/parts.star", "deep = file(\"sub/more.txt\")\n", "lib/sub/more.txt", "and clear ")
	if res, err := mod.Start(t.Context(), input("!")).Wait(); err != nil || res.Text() != "be brief\nand clear !" {
		t.Errorf("got %q, %v", res.Text(), err)
	}
	changed := loaded(t, agentscript.New(), "style = file(\"style.md\")\n", "style.md", "one")
	same := loaded(t, agentscript.New(), "style = file(\"style.md\")\n", "style.md", "one")
	other := loaded(t, agentscript.New(), "style = file(\"style.md\")\n", "style.md", "two")
	if changed.Hash() != same.Hash() || changed.Hash() == other.Hash() {
		t.Error("what a script reads is not part of its hash")
	}

	top := t.TempDir()
	dir := filepath.Join(top, "flows")
	for name, text := range map[string]string{"secret.txt": "top secret", "flows/inside.txt": "inside", "flows/sub/x.txt": "x"} {
		file := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"within.txt": "inside.txt", "secret.txt": "../secret.txt", "absolute.txt": filepath.Join(top, "secret.txt"),
		"up": "..", "sub/round.txt": "round.txt", "chain.txt": "secret.txt",
	} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for path, want := range map[string]diag.Code{
		"inside.txt": "", "within.txt": "", "sub/../inside.txt": "", "./inside.txt": "",
		"secret.txt": diag.OutsideDirectory, "absolute.txt": diag.OutsideDirectory, "up/secret.txt": diag.OutsideDirectory,
		"chain.txt": diag.OutsideDirectory, "sub/round.txt": diag.OutsideDirectory, "../secret.txt": diag.OutsideDirectory,
		filepath.ToSlash(filepath.Join(top, "secret.txt")): diag.OutsideDirectory, "sub/../../secret.txt": diag.OutsideDirectory,
		"missing.txt": diag.FileMissing, "sub": diag.FileMissing, "": diag.FileMissing, `sub\x.txt`: diag.FileMissing,
	} {
		entry := filepath.Join(dir, "flow.star")
		if err := os.WriteFile(entry, []byte("text = file(r'''"+path+"''')\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		found, _ := agentscript.New().CheckFile(t.Context(), entry)
		if got := codes(found); got != string(want) {
			t.Errorf("file(%q) is %q, want %q\n%v", path, got, want, found)
		}
		if strings.Contains(found.Error(), "top secret") {
			t.Errorf("file(%q) tells the content", path)
		}
	}
}
