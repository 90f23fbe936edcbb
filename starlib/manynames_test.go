package starlib_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// numbered returns a line for each number from 0.
func numbered(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "#", strconv.Itoa(i)))
	}
	return b.String()
}

// TestManyUnknownNames checks that loading a script with many unknown names takes time that grows with its length. The
// interpreter's own resolver collects all known names for each.
func TestManyUnknownNames(t *testing.T) {
	for name, script := range map[string]func(n int) (main string, files []string){
		"at the top level": func(n int) (string, []string) { return numbered(n, "x# = undefined#\n"), nil },
		"in a function": func(n int) (string, []string) {
			return "def f():\n" + numbered(n, "    x# = undefined#\n"), nil
		},
		"in functions":  func(n int) (string, []string) { return numbered(n, "def f#(): return undefined#\n"), nil },
		"reassigned":    func(n int) (string, []string) { return numbered(n, "x = #\n"), nil },
		"of references": func(n int) (string, []string) { return numbered(n, "S# = schema(a = ref(\"Undefined#\"))\n"), nil },
		"not there to be loaded": func(n int) (string, []string) {
			return "load(\"lib.star\", " + numbered(n, "\"undefined#\", ") + ")\n", []string{"lib.star", numbered(n, "defined# = #\n")}
		},
		"loaded one by one": func(n int) (string, []string) {
			return numbered(n, "load(\"lib.star\", \"undefined#\")\n"), []string{"lib.star", numbered(n, "defined# = #\n")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n, times := 2500, 8
			if testing.Short() {
				n = 250
			}
			work := func(n int) uint64 {
				main, files := script(n)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				m, found := load(main, files...)
				runtime.ReadMemStats(&after)
				const most = 100
				if len(found) != most {
					t.Fatalf("%d findings, want %d", len(found), most)
				}
				told := false
				for _, d := range found {
					told = told || strings.Contains(fmt.Sprint(d.Notes), "more like this one")
				}
				if !told {
					t.Errorf("nothing says that there are more:\n%s", render(m, found[most-1:]))
				}
				return after.TotalAlloc - before.TotalAlloc
			}
			if few, many := work(n), work(times*n); many > 2*uint64(times)*few {
				t.Errorf("%d names allocate %d bytes, %d names %d bytes: that is not linear", n, few, times*n, many)
			}
		})
	}
}

// TestSuggestionsEnd checks that names are compared only while that is not most of the work.
func TestSuggestionsEnd(t *testing.T) {
	_, found := load(numbered(30_000, "x# = 1\n") + "undefined = 1\n" + numbered(90, "y# = undefined#\n"))
	if help := strings.Join(found[0].Help, ""); !strings.Contains(help, "did you mean") {
		t.Errorf("the first has the help %q", help)
	}
	if help := strings.Join(found[len(found)-1].Help, ""); strings.Contains(help, "did you mean") {
		t.Errorf("the last is compared with all names as well: %q", help)
	}
}

// TestNULByte uses a byte that the interpreter's scanner treats as the end of the file.
func TestNULByte(t *testing.T) {
	_, found := load("x = 1\ny = \"a\x00\"\nz = 2\n")
	if codes(found) != "AS101" || found[0].Span.Line != 2 || found[0].Span.Col != 7 || !strings.Contains(found[0].Message, "NUL") {
		t.Errorf("got %v", found)
	}
}
