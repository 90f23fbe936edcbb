package starlib_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// section begins a further file in a test script: "-- lib/x.star --".
var section = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// parts splits a test script into its main file and its other files.
func parts(src string) (main string, files []string) {
	marks := section.FindAllStringSubmatchIndex(src, -1)
	if marks == nil {
		return src, nil
	}
	for i, m := range marks {
		end := len(src)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		files = append(files, src[m[2]:m[3]], src[m[1]:end])
	}
	return src[:marks[0][0]], files
}

// TestErrors compares the full text of diagnostics with golden files. Every script begins with the rule that it breaks,
// and with the codes that it is about.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".star"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head := regexp.MustCompile(`^# (AS\d+(?: AS\d+)*): .+\n`).FindStringSubmatch(string(data))
			if head == nil {
				t.Fatal("the first line is not \"# CODE: the rule\"")
			}
			main, more := parts(string(data))
			m, found := loadWith(starlib.Options{Strict: strings.Contains(file, "strict"), Ungranted: strings.Contains(file, "ungranted")}, main, more...)
			if _, d := m.Main(); d != nil && strings.Contains(head[1], string(diag.NoMain)) && !strings.Contains(codes(found), string(diag.NoMain)) {
				found = append(found, d)
			}
			for _, code := range strings.Fields(head[1]) {
				if !strings.Contains(codes(found), code) {
					t.Errorf("no %s among %q", code, codes(found))
				}
			}
			parsed := starlib.NewParsed() // a parsed script causes the same findings when it is loaded again
			for i := range 2 {
				m, again := loadWith(starlib.Options{Strict: strings.Contains(file, "strict"), Ungranted: strings.Contains(file, "ungranted"), Parsed: parsed}, main, more...)
				if got, want := render(m, again), render(m, found); codes(found) != string(diag.NoMain) && got != want {
					t.Errorf("load %d with the file as it was parsed:\n%s\nwant\n%s", i, got, want)
				}
			}
			got, golden := render(m, found), strings.TrimSuffix(file, ".star")+".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
