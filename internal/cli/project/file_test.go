package project

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
)

// written creates a project file in a new directory.
func written(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", ""},
		{"\ufeff# nothing\r\n\r\n", ""},
		{"[models]\nfast = \"a/b\"\r\n\t'slow' = 'c/d' # dear\n\"x-1\"=\"e\\\"\\\\/f\"\n", `models.fast=a/b models.slow=c/d models.x-1=e"\/f`},
		{"models = {fast = \"a/b\"}\nrun.timeout = '2m'\n[test]\nlines = 80\nedges = 99.5\n", "models.fast=a/b run.timeout=2m test.edges=99.5 test.lines=80"},
		{"[run]\nmax-model-calls = 0\nmax-usd = 1_0\nmodel = 'a/b=c'\nprogress = 'plain'\n", "run.max-model-calls=0 run.max-usd=10 run.model=a/b=c run.progress=plain"},
		{"[policy]\nask = [\"@once\"]\ndeny = ['rm_*', \"send(to=*@x.org)\"]\n", "policy.ask=@once policy.deny=rm_*, send(to=*@x.org)"},
		{"fast = \"a/b\"\n", "1:1: the key \"fast\" is in no table"},
		{"timeout = \"2m\"\n", "1:1: the key \"timeout\" is in no table|write it below [run]"},
		{"[model]\nfast = \"a/b\"\n", "1:2: there is no table \"model\"|did you mean \"models\"?"},
		{"run = 3\n", "1:1: run is a table, not 3"},
		{"[run]\nmodel = a/b # fast\n", "2:9: a text is written in quotes|put it in quotes"},
		{"[run]\nmodel =\n", "2:8: a value is missing|write it after the =, or remove the line"},
		{"[run]\nmodel = # fast\n", "2:9: a value is missing|write it after the =, or remove the line"},
		{"[run]\nmodel = 'a\n", "2:11: literal strings cannot have new lines"},
		{"[[run]]\ntimeout = \"2m\"\n", "1:3: run is a table, not a list"},
		{"[models\nfast = \"a/b\"\n", "1:8: "},
		{"[models]\nfast\n", "2:5: "},
		{"[models]\n'ä' = \"\n", "2:8: "},
		{"[models]\na = \"x/y\"\na = \"x/z\"\n", "3:1: "},
		{"[models]\n\"a/b\" = \"x/y\"\n'' = \"x\"\nc = \"\"\nd = 1\n", "2:1: the alias \"a/b\" may hold no /|3:1: an alias needs a name|4:1: the alias \"c\" names no model|5:1: an alias is for a model in quotes, not 1"},
		{"[models]\na = \"\xff\"\n", "it is not UTF-8 text"},
		{"[run]\ntimout = \"2m\"\n", "2:1: there is no key \"timout\" in [run]|did you mean \"timeout\"?"},
		{"[run]\nmax_usd = 1\n", "2:1: there is no key \"max_usd\"|did you mean \"max-usd\"?"},
		{"[run]\nlines = 1\n", "2:1: there is no key \"lines\"|lines is a key of [test]"},
		{"[run]\ntimeout = 90\nmodel = true\nprogress = 'loud'\nretries = -1\nmax-steps = 0\nmax-tokens = 1.5\nmax-usd = inf\nmax-depth = \"2\"\n",
			"2:1: timeout is a duration in quotes|3:1: model is a model in quotes, as in \"provider/model\", not true|4:1: progress is one of|5:1: retries is a whole number that is not negative, not -1|6:1: max-steps is a whole number of 1 or more, not 0|7:1: max-tokens is a whole number that is not negative, not 1.5|8:1: max-usd is an amount of money|9:1: max-depth is a whole number that is not negative, not \"2\""},
		{"[run]\nmodel = 'a=b/c'\ntimeout = '0s'\nmax-usd = 2024-01-01\n", "2:1: model is|3:1: timeout is|4:1: max-usd is an amount of money that is not negative, not a date or a time"},
		{"[test]\nlines = 101\nedges = -1\nrepeat = 0\n", "2:1: lines is a number from 0 to 100, not 101|3:1: edges is|4:1: repeat is"},
		{"[policy]\nallow = ['*']\nask = 'x'\ndeny = [1,\n  'a(b']\n", "2:1: there is no key \"allow\" in [policy]|only make policy stricter|3:1: ask is a list of rules|4:9: deny is a list of rules|5:3: the pattern \"a(b\" cannot be read"},
		{"[grants]\n[run]\nallow-exec = ['x']\napi_key = 'x'\nserver = 'x'\nhook = 'x'\nenv-file = 'x'\n",
			"1:2: there is no table or key \"grants\": a project file grants nothing|3:1: there is no key \"allow-exec\" in [run]: a project file grants nothing|4:1: there is no key \"api_key\" in [run]: a project file names no key|5:1: there is no key \"server\" in [run]: a project file names no server|6:1: there is no key \"hook\" in [run]: a project file names no command|7:1: there is no key \"env-file\" in [run]: a project file names no key"},
	} {
		f, problem := read(written(t, row.text))
		if problem != nil {
			said := strings.ReplaceAll(problem.Error(), ": error: ", ": ")
			for _, d := range problem.Found {
				said += "\n" + strings.Join(d.Help, "\n")
			}
			for _, want := range strings.Split(row.want, "|") {
				if want == "" || !strings.Contains(said, want) {
					t.Errorf("%q: %s, want %q", row.text, said, want)
				}
			}
			continue
		}
		var got []string
		for _, set := range slices.Concat(slices.Collect(maps.Values(f.models)), slices.Collect(maps.Values(f.own))) {
			got = append(got, set.Table+"."+set.Key+"="+set.Text)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != row.want {
			t.Errorf("%q: %v, want %s", row.text, got, row.want)
		}
	}
}

// The nearest file above is used, up to the root of the repository.
func TestFind(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(dir string) string {
		path := filepath.Join(dir, FileName)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	above := put(top)
	if got := Find(below); got != above {
		t.Errorf("found %q", got)
	}
	if err := os.Mkdir(filepath.Join(top, "a", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Find(below); got != "" {
		t.Errorf("outside of the repository: %q", got)
	}
	if at := put(filepath.Join(top, "a")); Find(below) != at {
		t.Errorf("found %q", Find(below))
	}
}

// A flag overrides the project file, which overrides the environment.
func TestPrecedence(t *testing.T) {
	env := map[string]string{"AGENTSCRIPT_TIMEOUT": "1s", "AGENTSCRIPT_MAX_DEPTH": "3", "AGENTSCRIPT_RETRIES": "7"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	s, problem := Open(filepath.Dir(written(t, "[run]\ntimeout = '2m'\nretries = 5\n")), lookup)
	if problem != nil {
		t.Fatal(problem)
	}
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	set.Duration("timeout", 0, "")
	set.Int("max-depth", 16, "")
	set.Int("retries", 4, "")
	set.Int("max-steps", 9, "")
	if err := set.Parse([]string{"--retries", "1"}); err != nil {
		t.Fatal(err)
	}
	if problem := s.Fill(Run, set); problem != nil {
		t.Fatal(problem)
	}
	for name, want := range map[string]string{"timeout": "2m0s", "max-depth": "3", "retries": "1", "max-steps": "9"} {
		f := set.Lookup(name)
		if f.Value.String() != want || f.Changed != (name != "max-steps") || Given(set, name) != (name == "retries") {
			t.Errorf("--%s is %s, changed %t, given %t", name, f.Value, f.Changed, Given(set, name))
		}
	}
	env["AGENTSCRIPT_MAX_USD"] = "lots"
	if _, problem := Open(t.TempDir(), lookup); problem == nil || !strings.Contains(problem.Error(), "the variable AGENTSCRIPT_MAX_USD: max-usd is an amount of money") {
		t.Errorf("a wrong variable: %v", problem)
	}
}

// FuzzRead: any project file is either read or rejected, and everything that is read fits the flags.
func FuzzRead(f *testing.F) {
	f.Add("[models]\nfast = \"a/b\" # x\n'slow'='c'\n")
	f.Add("[models\n\"a\\\"b\" = \"\\\\\"")
	f.Add("models = {a = 'x/y'}\nrun.timeout = '2m'\n[test]\nlines = 8e1\n[policy]\ndeny = [ # all\n 'a', \"b(c=d)\",]\n")
	f.Add("[[run]]\n[run.x.y]\nz = [{a = [1, {b = 07:32:00}]}]\n")
	f.Add("[run]\nmax-usd = 1e999\nmax-steps = 0x10\nretries = +5\nmodel = '''\na'''\n")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > longest {
			return
		}
		file := readText(FileName, text)
		for _, d := range file.found {
			if d.Message == "" || strings.Count(text, "\n")+1 < d.Span.Line {
				t.Errorf("%+v", d)
			}
		}
		s := &Settings{file: file, set: file.own}
		if len(file.found) > 0 {
			return
		}
		for name, model := range s.file.models {
			if err := check(name, model.Text); err != nil {
				t.Error(err)
			}
		}
		for _, table := range []string{Run, Test} {
			set := pflag.NewFlagSet("run", pflag.ContinueOnError)
			set.Duration("timeout", 0, "")
			set.String("progress", "", "")
			set.Float64("max-usd", 0, "")
			for _, name := range []string{"max-model-calls", "max-tool-calls", "max-tokens", "max-steps", "max-depth", "retries", "max-in-flight", "repeat"} {
				set.Int64(name, 0, "")
			}
			if problem := s.Fill(table, set); problem != nil {
				t.Error(problem)
			}
		}
		if (s.Policy() == nil) != (s.Text(Policy, "ask")+s.Text(Policy, "deny") == "") {
			t.Error("rules were lost")
		}
	})
}

// The message that rejects what a file sets as a key does not quote it.
func TestKeysAreHidden(t *testing.T) {
	const key = "hush-canary-key"
	for _, text := range []string{
		"api_key = \"" + key + "\"\n",
		"[run]\napi-key = \"" + key + "\"\n",
		"[run]\nenv = {X = [\"" + key + "\"]}\nsecret = \"\"\"" + key + "\n" + key + "\"\"\"\ntimout = 1\n",
		"secrets = {a = {b = \"" + key + "\"}}\n",
	} {
		_, problem := read(written(t, text))
		if problem == nil {
			t.Errorf("%q is read", text)
			continue
		}
		var said strings.Builder
		if err := diag.Render(&said, problem.Found, problem.Sources, diag.Options{}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(said.String(), key) || !strings.Contains(said.String(), strings.Repeat("*", len(key))) {
			t.Errorf("%q:\n%s", text, said.String())
		}
		if strings.Contains(text, "timout") && !strings.Contains(said.String(), "5 | timout = 1") {
			t.Errorf("%q:\n%s", text, said.String())
		}
	}
}
