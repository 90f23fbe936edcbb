package conformance

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/starlib"
)

// marks returns the counts that the lines of a file declare: `# hit 3` or `# miss` for each statement that begins
// there, followed by lambda, arm or element with the counts of those in their order.
func marks(t *testing.T, text string) map[int]string {
	t.Helper()
	want := map[int]string{}
	mark := regexp.MustCompile(`  # (hit \d+.*|miss)$`)
	for i, line := range strings.Split(text, "\n") {
		if m := mark.FindStringSubmatch(line); m != nil {
			want[i+1] = m[1]
		}
	}
	return want
}

// counted formats counts like marks.
func counted(t *testing.T, places []starlib.Place) map[int]string {
	t.Helper()
	got := map[int]string{}
	statements := map[int]int64{}
	kinds := map[int]starlib.Place{}
	for _, p := range places {
		if p.Kind == starlib.StatementPlace {
			if n, more := statements[p.Line]; more && n != p.Count {
				t.Errorf("%v: statements of the line have the counts %d and %d", p.Pos, n, p.Count)
			}
			statements[p.Line] = p.Count
		}
	}
	for line, n := range statements {
		if got[line] = "hit " + strconv.FormatInt(n, 10); n == 0 {
			got[line] = "miss"
		}
	}
	order := map[string]int{"lambda": 0, "element": 1, "arm": 2}
	places = slices.Clone(places)
	slices.SortStableFunc(places, func(a, b starlib.Place) int { return order[string(a.Kind)] - order[string(b.Kind)] })
	for _, p := range places {
		if p.Kind == starlib.StatementPlace || p.Kind == starlib.WayPlace {
			continue
		}
		if kinds[p.Line].Kind != p.Kind {
			got[p.Line] += " " + string(p.Kind)
		}
		kinds[p.Line] = p
		got[p.Line] += fmt.Sprintf(" %d", p.Count)
	}
	return got
}

// Promise 27.50 (desk): coverage counts each statement, lambda body and arm of a condition exactly, as marked by hand
// in a corpus.
func TestPromise_27_50_Statements(t *testing.T) {
	mod := loadedFile(t, agentscript.New(agentscript.WithCoverage()), "internal/conformance/testdata/cover/lines.star")
	if _, err := mod.Start(t.Context()).Wait(); err != nil {
		t.Fatal(err)
	}
	byFile := map[string][]starlib.Place{}
	for _, p := range mod.TakeCoverage() {
		byFile[p.File] = append(byFile[p.File], p)
	}
	if len(byFile) != 2 {
		t.Errorf("%d files are covered, want 2", len(byFile))
	}
	for file, places := range byFile {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, got := marks(t, string(text)), counted(t, places)
		for line := range strings.Count(string(text), "\n") + 1 {
			if want[line] != got[line] {
				t.Errorf("%s:%d: counted %q, marked %q", file, line, got[line], want[line])
			}
		}
	}
	for _, p := range mod.Coverage() {
		if p.Count != 0 {
			t.Errorf("%v: %d after the counts were taken", p.Pos, p.Count)
		}
	}
	if plain := loadedFile(t, agentscript.New(), "internal/conformance/testdata/cover/lines.star"); plain.Coverage() != nil {
		t.Error("a plain load counts")
	}
}
