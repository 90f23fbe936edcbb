package coverreport_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/coverreport"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// shownRow is a row of a table on a page.
type shownRow struct {
	table, class string   // their classes
	cells, links []string // texts of the cells, and the targets of their links
}

// shown parses a page strictly and returns its rows. Each link must have a target, and the page may load nothing.
func shown(t *testing.T, page string) (rows []shownRow) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(page))
	ids, table := map[string]bool{}, ""
	var text *string
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, page)
		}
		switch e := token.(type) {
		case xml.StartElement:
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
				if name := a.Name.Local; name != "class" && name != "id" && name != "href" && e.Name.Local != "meta" && e.Name.Local != "html" {
					t.Errorf("<%s %s=%q>", e.Name.Local, name, a.Value)
				}
			}
			if id, has := attr["id"]; has {
				if ids[id] {
					t.Errorf("%s is there twice", id)
				}
				ids[id] = true
			}
			switch e.Name.Local {
			case "html", "head", "meta", "title", "style", "body", "h1", "h2", "th":
			case "table":
				table = attr["class"]
			case "tr":
				rows = append(rows, shownRow{table: table, class: attr["class"]})
			case "td":
				row := &rows[len(rows)-1]
				row.cells = append(row.cells, "")
				text = &row.cells[len(row.cells)-1]
			case "a":
				row := &rows[len(rows)-1]
				row.links = append(row.links, attr["href"])
			default:
				t.Errorf("there is a <%s>", e.Name.Local)
			}
		case xml.EndElement:
			if e.Name.Local != "a" {
				text = nil
			}
		case xml.CharData:
			if text != nil {
				*text += string(e)
			}
		}
	}
	for _, row := range rows {
		for _, to := range row.links {
			if !strings.HasPrefix(to, "#") || !ids[to[1:]] {
				t.Errorf("a link leads to %s", to)
			}
		}
	}
	return rows
}

// hostile are texts that would break out of a page, or look like something else.
var hostile = []string{
	"</script><script>alert(1)</script>", `"><img src=x onerror='alert(1)'>`, "</td></table>", "<!--", "]]>", "&amp;&#60;", "\u202ereversed", "\x1b[31mred\x1b[0m",
	"a\x00b", "\xff\xfe", "\u2028", "\ufffe", "'quotes\"", "zero\u200bwidth", "a\r\nb", "{{.}}", "tag\U000e0041", strings.Repeat("long ", 2000),
}

// randomReport returns a report of some files, tests and groups with hostile names, and the sources of its files.
func randomReport(r *rand.Rand) (*coverreport.Report, diag.SourceMap) {
	word := func() string { return hostile[r.IntN(len(hostile))] }
	rep, sources := coverreport.New(), diag.SourceMap{}
	var names []string
	for i := range 1 + r.IntN(3) {
		name := fmt.Sprintf("%d%s.star", i, strings.ReplaceAll(word(), "/", "|"))
		names = append(names, name)
		var lines []string
		for range r.IntN(30) {
			lines = append(lines, word())
		}
		if r.IntN(4) > 0 {
			sources[name] = strings.Join(lines, "\n")
		}
	}
	places := func(all bool) (list []starlib.Place) {
		for _, name := range names {
			for line := 1; line < 20; line += 1 + r.IntN(3) {
				p := starlib.Place{Kind: starlib.StatementPlace, Pos: diag.Pos{File: name, Line: line, Col: 1}, EndLine: line, EndCol: 9, Function: "f", FunctionLine: 1}
				if r.IntN(4) == 0 {
					p.Kind, p.Col = starlib.ArmPlace, 5
				}
				if p.Count = int64(r.IntN(3)); all || p.Count > 0 {
					list = append(list, p)
				}
			}
		}
		return list
	}
	rep.Add("", places(true))
	var tests []string
	for range r.IntN(6) {
		tests = append(tests, fmt.Sprintf("%d: %s", len(tests), word()))
		rep.Add(tests[len(tests)-1], places(false))
	}
	for _, group := range []string{"edges", "tools"} {
		var items []coverreport.Item
		for i := range r.IntN(4) {
			it := coverreport.Item{Name: word(), Pos: diag.Pos{File: names[r.IntN(len(names))], Line: i + 1, Col: 2}}
			if len(tests) > 0 && r.IntN(2) == 0 {
				it.Count, it.Tests = 2, tests[:1+r.IntN(len(tests))]
			}
			items = append(items, it)
		}
		rep.AddGroup(group, items)
	}
	return rep, sources
}

// A page is well formed for any names and sources, and shows the same numbers as JSON and LCOV.
func TestPage(t *testing.T) {
	for seed := range uint64(200) {
		rep, sources := randomReport(rand.New(rand.NewPCG(seed, 1)))
		page, d := rep.HTML(sources), rep.Document()
		if !utf8.ValidString(page) || strings.ContainsFunc(page, func(r rune) bool { return r != '\n' && (r < ' ' || text.Unseen('a', r)) }) {
			t.Fatalf("seed %d: there are characters that nobody sees", seed)
		}
		rows := shown(t, page)
		var got, want []string
		for _, row := range rows {
			if len(row.cells) > 0 && (row.table != "code" || row.cells[1] != "") {
				got = append(got, fmt.Sprintf("%s %s %q", row.table, row.class, row.cells))
			}
		}
		add := func(table, class string, cells ...any) {
			var all []string
			for _, c := range cells {
				all = append(all, text.Visible(fmt.Sprint(c)))
			}
			want = append(want, fmt.Sprintf("%s %s %q", table, class, all))
		}
		mark := func(count int64) string { return map[bool]string{true: "miss", false: "hit"}[count == 0] }
		for _, s := range d.Shares {
			if s.Total == 0 && s.Name != coverreport.Lines { // an empty group
				continue
			}
			add("shares", "", s.Name, fmt.Sprintf("%.1f", float64(int(s.Percent*10))/10), s.Covered, s.Total)
		}
		for _, f := range d.Files {
			run := 0
			for _, l := range f.Lines {
				if l.Count > 0 {
					run++
				}
			}
			add("files", "", f.File, run, len(f.Lines), rangesOf(f.Missed))
		}
		for i, name := range d.Tests {
			add("tests", "", i+1, name)
		}
		for _, g := range d.Groups {
			for _, it := range g.Items {
				add("items", mark(it.Count), fmt.Sprintf("%s:%d:%d", it.File, it.Line, it.Col), it.Name, it.Count, numbersOf(it.Tests))
			}
		}
		for _, f := range d.Files {
			lines := strings.Split(sources[f.File], "\n")
			for _, l := range f.Lines {
				said := ""
				if l.Line <= len(lines) {
					said = strings.TrimSuffix(lines[l.Line-1], "\r")
				}
				add("code", mark(l.Count), l.Line, l.Count, said, numbersOf(l.Tests))
			}
			for _, p := range f.Parts {
				add("items", mark(p.Count), fmt.Sprintf("%s:%d:%d", f.File, p.Line, p.Col), p.Name, p.Count, numbersOf(p.Tests))
			}
		}
		if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
			t.Fatalf("seed %d: the page shows\n%s\nwant\n%s", seed, a, b)
		}
		sameAsLCOV(t, d, rep.LCOV())
	}
}

// sameAsLCOV compares the lines of both.
func sameAsLCOV(t *testing.T, d coverreport.Document, lcov string) {
	t.Helper()
	var want strings.Builder
	for _, f := range d.Files {
		for _, l := range f.Lines {
			fmt.Fprintf(&want, "DA:%d,%d\n", l.Line, l.Count)
		}
	}
	if got := strings.Join(regexp.MustCompile(`(?m)^DA:.*\n`).FindAllString(lcov, -1), ""); got != want.String() {
		t.Errorf("LCOV has\n%s\nJSON\n%s", got, want.String())
	}
}

func numbersOf(list []int) string {
	var ranges [][2]int
	for _, n := range list {
		if len(ranges) > 0 && ranges[len(ranges)-1][1] == n-1 {
			ranges[len(ranges)-1][1] = n
		} else {
			ranges = append(ranges, [2]int{n, n})
		}
	}
	return rangesOf(ranges)
}

func rangesOf(ranges [][2]int) string {
	var out []string
	for _, r := range ranges {
		if r[0] == r[1] {
			out = append(out, fmt.Sprint(r[0]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", r[0], r[1]))
		}
	}
	return strings.Join(out, ", ")
}

// The tests of a line are those that ran it, and without tests the report says nothing about them.
func TestByTest(t *testing.T) {
	r := coverreport.New()
	r.Add("", []starlib.Place{at("", 1, 1, 1, "", 0, 1), at("", 2, 5, 2, "f", 1, 0), at("", 3, 5, 3, "f", 1, 0)})
	r.Add("b", []starlib.Place{at("", 2, 5, 2, "f", 1, 2)})
	r.Add("a", []starlib.Place{at("", 2, 5, 2, "f", 1, 1)})
	r.AddGroup("edges", []coverreport.Item{{Name: "x", Count: 1, Tests: []string{"a", "b"}}})
	got, err := json.Marshal(r.Document())
	want := `"tests":["b","a"],"files":[{"file":"flow.star","lines":[{"line":1,"count":1},{"line":2,"count":3,"tests":[1,2]},{"line":3,"count":0}],"missed":[[3,3]],"parts":[]}],` +
		`"groups":[{"name":"edges","items":[{"line":0,"col":0,"name":"x","count":1,"tests":[1,2]}]}]}`
	if err != nil || !strings.HasSuffix(string(got), want) {
		t.Errorf("%s, %v", got, err)
	}
	if got, _ := json.Marshal(coverreport.New().Document()); strings.Contains(string(got), "tests") {
		t.Errorf("%s", got)
	}
}
