package conformance

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// decodingPage is docs/decoding.md: its types and the tables that start with a header.
type decodingPage struct {
	text string
	mod  *agentscript.Module
}

var titled = regexp.MustCompile("(?s)```python title=kinds.star\n(.*?)```")

func readDecodingPage(t *testing.T) decodingPage {
	t.Helper()
	text, err := os.ReadFile(repository("docs/decoding.md"))
	if err != nil {
		t.Fatal(err)
	}
	types := titled.FindSubmatch(text)
	if types == nil {
		t.Fatal("the page has no script kinds.star")
	}
	return decodingPage{string(text), loaded(t, agentscript.New(), string(types[1]))}
}

// table returns the cells of the rows below a header.
func (p decodingPage) table(t *testing.T, header string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(p.text, "\n"+header+"\n")
	if !found {
		t.Fatalf("the page has no table %s", header)
	}
	var rows [][]string
	for i, line := range strings.Split(rest, "\n") {
		if i == 0 { // the dashes
			continue
		}
		if !strings.HasPrefix(line, "| ") {
			break
		}
		rows = append(rows, strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | "))
	}
	return rows
}

var byteMark = regexp.MustCompile("⟨([0-9A-F]{2})⟩")

// code returns the text of a code span, with the page's symbols for invisible characters.
func code(cell string) string {
	s := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(cell, "`"), "`"), "↵", "\n")
	return byteMark.ReplaceAllStringFunc(s, func(m string) string {
		n, err := strconv.ParseUint(m[len("⟨"):len("⟨")+2], 16, 8)
		if err != nil {
			return m
		}
		return string([]byte{byte(n)})
	})
}

// decode reads a cell's text as a type, which is a name and option words: `Level`, loose.
func (p decodingPage) decode(t *testing.T, text, as string, more ...string) (lenient.Result, *generable.Type) {
	t.Helper()
	var o generable.Options
	words := append(strings.Split(as, ", ")[1:], more...)
	for _, w := range words {
		option := "level"
		if w == "drop" || w == "keep" {
			option = "on_bad_item"
		}
		if err := o.Set(option, w); err != nil {
			t.Fatal(err)
		}
	}
	var typ *generable.Type
	if name := code(strings.Split(as, ", ")[0]); name != "" {
		if typ = p.mod.Type(name); typ == nil {
			t.Fatalf("the page has no type %q", name)
		}
	}
	return lenient.Decode(typ, code(text), o), typ
}

// Promise 13.12 (types and decoding): the decoding page lists every kind of repair with its cost and an example that
// is repaired by that kind alone.
func TestPromise_13_12_KindsOfRepairs(t *testing.T) {
	page := readDecodingPage(t)
	var kinds []string
	check := func(kind, cost, text, as, want string) {
		kinds = append(kinds, code(kind))
		res, typ := page.decode(t, text, as)
		if got := generable.JSON(res.Value, typ); !res.OK || got != code(want) {
			t.Errorf("%s: %s as %s gives %s, %v; the page says %s", kind, text, as, got, res.Errors, want)
		}
		if got := kindsOf(res); !slices.Equal(got, []string{code(kind)}) {
			t.Errorf("%s: %s as %s is repaired by %q", kind, text, as, got)
		} else if got := strconv.Itoa(res.Repairs[0].Cost); got != cost {
			t.Errorf("%s costs %s, the page says %s", kind, got, cost)
		}
	}
	for _, c := range page.table(t, "| kind | cost | in a text such as | is read as |") {
		check(c[0], c[1], c[2], "", c[3])
	}
	for _, c := range page.table(t, "| kind | cost | in a text such as | as | is read as |") {
		check(c[0], c[1], c[2], c[3], c[4])
	}
	kinds = append(kinds, "more-repairs") // needs a text that no page contains; the section on limits mentions it
	want := lenient.RepairKinds()
	slices.Sort(want)
	slices.Sort(kinds)
	if !slices.Equal(kinds, want) {
		t.Errorf("the page has the kinds\n%q\nthere are\n%q", kinds, want)
	}
}

// Promise 13.13 (types and decoding): `strict` repairs nothing, `safe` loses nothing, `loose` guesses; the decoding
// page shows the differences by examples, and a level that accepts a text agrees with the stricter levels that accept
// it.
func TestPromise_13_13_Levels(t *testing.T) {
	page := readDecodingPage(t)
	rows := page.table(t, "| text | as | `strict` | `safe` | `loose` |")
	if len(rows) < 10 {
		t.Errorf("the page has %d rows", len(rows))
	}
	for _, c := range rows {
		for i, level := range []string{"strict", "safe", "loose"} {
			res, typ := page.decode(t, c[0], c[1], level)
			got := "error"
			if res.OK {
				got = generable.JSON(res.Value, typ)
			}
			if got != code(c[2+i]) {
				t.Errorf("%s as %s at %s gives %s, %v; the page says %s", c[0], c[1], level, got, res.Errors, c[2+i])
			}
			if level == "strict" && res.OK && res.Cost > 0 {
				t.Errorf("%s as %s at strict costs %d", c[0], c[1], res.Cost)
			}
			if i > 0 && c[1+i] != "error" && c[2+i] != c[1+i] {
				t.Errorf("%s as %s: two levels accept it and differ", c[0], c[1])
			}
		}
	}
}

// Promise 13.14 (types and decoding): the decoding page names every option with its choices, every format, event and
// policy, and the limits that apply.
func TestPromise_13_14_DecodingPage(t *testing.T) {
	page := readDecodingPage(t)
	flat := strings.Join(strings.Fields(page.text), " ")
	for _, option := range []string{"level", "pick", "on_bad_item", "extra_keys"} {
		for _, w := range generable.OptionWords(option) {
			if !strings.Contains(flat, "`"+strings.ReplaceAll(w, "_", "-")+"`") {
				t.Errorf("the page does not name %s = %s", option, w)
			}
		}
	}
	for _, f := range generable.FormatNames() {
		if !strings.Contains(flat, " "+f+",") && !strings.Contains(flat, " "+f+" |") {
			t.Errorf("the page does not name the format %s", f)
		}
	}
	for k := lenient.StreamText; k <= lenient.StreamDone; k++ {
		if !strings.Contains(flat, "| `"+k.String()+"` |") {
			t.Errorf("the page does not name the event %s", k)
		}
	}
	for digits, ok := range map[int]bool{4300: true, 4301: false} {
		if res := lenient.Decode(generable.IntT, strings.Repeat("9", digits), generable.Options{}); res.OK != ok {
			t.Errorf("%d digits: ok is %t, %v", digits, res.OK, res.Errors)
		}
	}
	for text, ok := range map[string]bool{
		strings.Repeat("[", 512) + strings.Repeat("]", 512): true, strings.Repeat("[", 513) + strings.Repeat("]", 513): false,
	} {
		if res := lenient.Decode(nil, text, generable.Options{}); res.OK != ok {
			t.Errorf("%d bytes: ok is %t, %v", len(text), res.OK, res.Errors)
		}
	}
	if !strings.Contains(flat, "4300 digits") || !strings.Contains(flat, "nesting | 512,") || !strings.Contains(flat, "errors | 100") {
		t.Error("the page does not say the limits on digits, nesting and errors")
	}
	if res := lenient.Decode(generable.ListOfType(generable.IntT), "["+strings.Repeat(`"x",`, 500)+"1]", generable.Options{}); len(res.Errors) != 101 {
		t.Errorf("of 500 wrong items %d errors are told", len(res.Errors))
	}
	if res := lenient.Decode(nil, "["+strings.Repeat(`'x',`, 5000)+"1]", generable.Options{}); len(res.Repairs) != 2001 || res.Repairs[2000].Cost != 3000 || res.Cost != 5000 {
		t.Errorf("of 5000 repairs %d are told, and cost %d", len(res.Repairs), res.Cost)
	}
}
