package arch

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the third-party notices")

// component is something that is linked and has its own licence.
type component struct {
	name, version string // no version for the standard library, which is the builder's
	dir           string
}

// linked returns what a package links on any platform besides its own module: the standard library first, then modules
// by path.
func linked(root, pkg string) ([]component, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	g, err := List(root, pkg)
	if err != nil {
		return nil, err
	}
	found := map[string]component{}
	for _, p := range g {
		if m := p.Module; m != nil && !m.Main {
			if m.Replace != nil {
				m = m.Replace
			}
			found[m.Path] = component{m.Path, m.Version, m.Dir}
		}
	}
	all := []component{{name: "The Go standard library", dir: strings.TrimSpace(string(out))}}
	return append(all, slices.SortedFunc(maps.Values(found), func(a, b component) int {
		return cmp.Compare(a.name, b.name)
	})...), nil
}

// terms matches the files whose texts must accompany a binary.
var terms = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

const rule = "================================================================================\n"

// write renders the components with their texts. A component without a licence is an error: it must not be linked.
func write(w io.Writer, all []component) error {
	var b strings.Builder
	b.WriteString("The agentscript command contains software of others, under the terms below.\n" +
		"Generated from the modules it links; run \"make notices\".\n\n")
	for _, c := range all {
		b.WriteString("  " + strings.TrimSpace(c.name+" "+c.version) + "\n")
	}
	for _, c := range all {
		texts, err := textsOf(c)
		if err != nil {
			return err
		}
		b.WriteString("\n" + rule + strings.TrimSpace(c.name+" "+c.version) + "\n" + rule)
		for _, t := range texts {
			b.WriteString("\n" + t)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// textsOf reads the licence and notice files at the top of a component, ordered by name.
func textsOf(c component) ([]string, error) {
	if c.dir == "" {
		return nil, fmt.Errorf("%s is not in the module cache; run go mod download", c.name)
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, err
	}
	var texts []string
	licensed := false
	for _, e := range entries {
		if e.IsDir() || !terms.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, plain(string(text)))
		licensed = licensed || !strings.HasPrefix(strings.ToLower(e.Name()), "notice") && !strings.HasPrefix(strings.ToLower(e.Name()), "patents")
	}
	if !licensed {
		return nil, fmt.Errorf("%s %s has no licence file", c.name, c.version)
	}
	return texts, nil
}

// plain normalizes a text: line feeds, no trailing blanks and one final line end.
func plain(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

// dir returns a directory with files.
func dir(t *testing.T, files map[string]string) string {
	t.Helper()
	d := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(d, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	err := write(&b, []component{
		{"one.test/a", "v1.0.0", dir(t, map[string]string{"LICENSE.md": "\n\nterms of a  \r\nend\r\n\r\n", "license.go": "package a", "README": "no"})},
		{"one.test/b", "v2.0.0", dir(t, map[string]string{"COPYING": "terms of b", "NOTICE.txt": "notice of b", "LICENSE-THIRD-PARTY": "terms within b"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "\n  one.test/a v1.0.0\n  one.test/b v2.0.0\n\n" +
		rule + "one.test/a v1.0.0\n" + rule + "\nterms of a\nend\n\n" +
		rule + "one.test/b v2.0.0\n" + rule + "\nterms of b\n\nterms within b\n\nnotice of b\n"
	if got := b.String(); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at the end\n%s", got, want)
	}
}

func TestWriteRefusesWhatHasNoLicence(t *testing.T) {
	for name, c := range map[string]component{
		"has no licence file":        {"one.test/a", "v1.0.0", dir(t, map[string]string{"NOTICE": "x"})},
		"is not in the module cache": {"one.test/a", "v1.0.0", ""},
	} {
		if err := write(&strings.Builder{}, []component{c}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Promise 1.14 (repository): the third-party notices contain the name, version and license of every module that the
// command links.
func TestPromise_1_14_Notices(t *testing.T) {
	all, err := linked(root(t), "./cmd/agentscript")
	if err != nil {
		t.Fatal(err)
	}
	if all[0].name != "The Go standard library" || len(all) < 5 {
		t.Errorf("the command links %v", all)
	}
	var made bytes.Buffer
	if err := write(&made, all); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root(t), "THIRD_PARTY_NOTICES")
	if *update {
		if err := os.WriteFile(file, made.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if stands, err := os.ReadFile(file); err != nil || !bytes.Equal(stands, made.Bytes()) {
		t.Errorf("the notices are stale (%v): run make notices", err)
	}
}
