package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/starlib"
)

// Promise 27.71 (desk): check, the prompt and the test runner report the same findings for every file of the tests.
//
// The findings are the same word for word, with these exceptions. The prompt does not report that a node is called
// while the file loads (AS210), since it runs such calls; if nothing else is wrong, its errors are those of these runs.
// It does not start if the project's settings are wrong. A test file must have tests (AS804, AS806) and needs no main;
// only its run reports names in it that no file has. Less is known about a file that a test loads than about one that
// is run: nothing is found in a line in which check finds nothing. TestEntriesAreStatementsOfAFile covers statements
// that are typed. An analysis for editors finds the same, except for what models, policies and the project's settings
// decide.
func TestPromise_27_71_OneAnalysis(t *testing.T) {
	ofModels := []diag.Code{diag.UnknownProvider, diag.NoConstraint, diag.ToolDenied}
	asFile := []diag.Code{diag.NoTests, diag.BadTest, diag.NoMain, diag.LoadCycle}
	n := 0
	eachScript(t, func(script string) {
		n++
		check := reported(t, "", "check", script)
		prompts := map[string][]string{"repl": reported(t, "", "repl", "--mock", script)}
		if filepath.Dir(script) == "." { // elsewhere may be another project
			prompts[":load"] = reported(t, ":load "+script+"\n", "repl", "--mock")
		}
		for name, got := range prompts {
			if slices.ContainsFunc(got, func(f string) bool { return ofProject(f) && isError(f) }) {
				continue // nothing begins in a project with wrong settings, before any script is read
			}
			rest := without(check, diag.CalledWhileComposing)
			runs := len(rest) < len(check) && !slices.ContainsFunc(rest, isError)
			if runs {
				got = got[:min(len(got), len(rest))]
			}
			same(t, name+" "+script, got, rest)
		}

		tests := script
		if !strings.HasSuffix(script, starlib.TestSuffix) {
			tests = strings.TrimSuffix(script, ".star") + "_as" + starlib.TestSuffix
			text := read(t, script)
			if !slices.ContainsFunc(check, func(f string) bool { return strings.Contains(f, "[AS1") }) { // it can be read
				text += "\ndef test_it(t):\n    pass\n"
			}
			write(t, tests, text)
			defer os.Remove(tests)
		}
		asTest := reported(t, "", "check", tests)
		toRun := asTest
		if !slices.ContainsFunc(asTest, isError) {
			toRun = slices.DeleteFunc(slices.Clone(asTest), atRun)
		}
		same(t, "test "+tests, reported(t, "", "test", "--list", tests), toRun)
		same(t, "check "+tests, without(renamed(asTest, tests, script), asFile...), without(check, asFile...))

		a := starlib.Analyse(t.Context(), starlib.Options{FS: os.DirFS("."), Entry: script, Ungranted: true}, []byte(read(t, script)))
		if len(a.Blanked) == 0 {
			var shown bytes.Buffer
			if err := diag.Render(&shown, a.Findings, a.Sources(), diag.Options{}); err != nil {
				t.Fatal(err)
			}
			same(t, "the analysis of "+script, findings(shown.String()), slices.DeleteFunc(without(check, ofModels...), ofProject))
		}

		loading := filepath.Join(filepath.Dir(script), "loading_of_it"+starlib.TestSuffix)
		name := "nothing"
		if m := bound.FindStringSubmatch(read(t, script)); m != nil {
			name = m[1] + m[2]
		}
		write(t, loading, fmt.Sprintf("load(%q, %q)\n\ndef test_it(t):\n    pass\n", filepath.Base(script), name))
		defer os.Remove(loading)
		loads := reported(t, "", "check", loading)
		same(t, "test of a file that loads "+script, reported(t, "", "test", "--list", loading), loads)
		for _, f := range loads {
			if at := lineOf(f); strings.HasPrefix(at, script+":") && !slices.ContainsFunc(check, func(o string) bool { return lineOf(o) == at }) {
				t.Errorf("%s: check finds nothing there, unless it is loaded\n%s", script, f)
			}
		}
	})
	t.Logf("%d scripts", n)
}

// bound matches a name that a script binds and others can load.
var bound = regexp.MustCompile(`(?m)^(?:def ([A-Za-z]\w*)\(|([A-Za-z]\w*) = )`)

// marked begins a further file in a script, "-- lib/x.star --".
var marked = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// eachScript calls f with each script of the repository, including those in its documentation, by its path in the
// current directory, which contains the files next to it. With -short it uses one in ten.
func eachScript(t *testing.T, f func(script string)) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sampled := func(path string) bool {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		return !testing.Short() || crc32.ChecksumIEEE([]byte(filepath.ToSlash(rel)))%10 == 0
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" {
			return fs.SkipDir
		}
		files, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		var plain []string
		for _, file := range files {
			name := file.Name()
			if !sampled(filepath.Join(path, name)) {
				continue
			}
			switch data := ""; filepath.Ext(name) {
			case ".star":
				if data = read(t, filepath.Join(path, name)); !marked.MatchString(data) {
					plain = append(plain, name)
					continue
				}
				unpacked(t, "-- "+name+" --\n"+data, f)
			case ".txtar":
				unpacked(t, read(t, filepath.Join(path, name)), f)
			case ".md":
				unpacked(t, snippets(read(t, filepath.Join(path, name))), f)
			}
		}
		if plain != nil {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(path)); err != nil {
				return err
			}
			t.Chdir(dir)
			for _, name := range plain {
				f(name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// snippet matches a script in a page, which may have a name.
var snippet = regexp.MustCompile("(?ms)^```python(?: title=(\\S+))?[^\n]*\n(.*?)^```")

// snippets returns the scripts of a page as an archive.
func snippets(page string) string {
	var archive strings.Builder
	for i, m := range snippet.FindAllStringSubmatch(page, -1) {
		fmt.Fprintf(&archive, "-- %s --\n%s", cmp.Or(m[1], fmt.Sprintf("snippet%d.star", i)), m[2])
	}
	return archive.String()
}

// unpacked calls f with each script of an archive.
func unpacked(t *testing.T, archive string, f func(script string)) {
	t.Chdir(t.TempDir())
	files := txtar.Parse([]byte(archive)).Files
	for _, file := range files {
		write(t, file.Name, string(file.Data))
	}
	for _, file := range files {
		if strings.HasSuffix(file.Name, ".star") && file.Name != "slowload.star" { // it uses all the time it gets
			f(file.Name)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reported returns the findings that a command writes.
func reported(t *testing.T, stdin string, args ...string) []string {
	t.Helper()
	_, _, stderr := inProcess(t, func(s *term.Process) { s.Stdin, s.StdinPiped = strings.NewReader(stdin), true }, args...)
	return findings(stderr)
}

// The first line of a finding, and the lines after it.
var (
	header = regexp.MustCompile(`^(error|warning|note)(\[AS\d+\])?: `)
	detail = regexp.MustCompile(`^ *(-->|\||=|\d+ \|)`)
)

// findings returns the findings in a text.
func findings(shown string) (all []string) {
	for line := range strings.Lines(shown) {
		switch last := len(all) - 1; {
		case header.MatchString(line):
			all = append(all, line)
		case last >= 0 && detail.MatchString(line):
			all[last] += line
		}
	}
	return all
}

// lineOf returns the file and line of a finding, "file:line".
func lineOf(finding string) string {
	_, at, _ := strings.Cut(finding, "--> ")
	if i := strings.IndexByte(at, ':'); i >= 0 {
		line, _, _ := strings.Cut(at[i+1:], ":")
		return at[:i+1] + line
	}
	return ""
}

// atRun reports whether a finding is about a name in a test that no file has: the run of the test reports it as an
// error.
func atRun(finding string) bool {
	return strings.HasPrefix(finding, "warning["+string(diag.BadTest)+"]")
}

// ofProject reports whether a finding is about the project's settings.
func ofProject(finding string) bool { return strings.Contains(finding, "agentscript.toml:") }

func isError(finding string) bool { return strings.HasPrefix(finding, "error") }

// without returns findings except those with some codes.
func without(all []string, codes ...diag.Code) []string {
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool {
		return slices.ContainsFunc(codes, func(c diag.Code) bool { return strings.Contains(f, "["+string(c)+"]") })
	})
}

// renamed replaces the file of findings.
func renamed(all []string, from, to string) []string {
	out := slices.Clone(all)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], from, to)
	}
	return out
}

func same(t *testing.T, who string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s says\n%s\nnot, as check does\n%s", who, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
