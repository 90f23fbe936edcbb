package coverreport

import (
	_ "embed"
	"fmt"
	"html"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// pageHead is the page up to its body, with its style. The tables are built here, since package html/template would
// make the command 3 MB larger.
//
//go:embed page.html
var pageHead string

// HTML returns the report as one self-contained page. If a source is not available, its lines are empty.
func (r *Report) HTML(sources diag.Sources) string {
	d := r.Document()
	w := &page{files: map[string]pageFile{}}
	for i, f := range d.Files {
		source, _ := sources.Source(f.File)
		one := pageFile{id: fmt.Sprintf("f%d", i+1), lines: strings.Split(strings.TrimSuffix(source, "\n"), "\n")}
		if n := len(f.Lines); n > 0 && f.Lines[n-1].Line > len(one.lines) { // the source is not available
			one.lines = append(one.lines, make([]string, f.Lines[n-1].Line-len(one.lines))...)
		}
		w.files[f.File] = one
	}
	w.WriteString(pageHead + "<body>\n<h1>Coverage</h1>\n")
	w.table("shares", "of", "percent", "covered", "all")
	for _, s := range d.Shares {
		if s.none() {
			continue
		}
		w.row("", "", data("what", s.Name), data("n", percent(s.Percent)), data("n", s.Covered), data("n", s.Total))
	}
	w.end()
	w.heading("", "Files")
	w.table("files", "file", "lines run", "of", "not run")
	for _, f := range d.Files {
		covered := 0
		for _, l := range f.Lines {
			covered += min(1, int(l.Count))
		}
		w.row("", "", cell{"what", f.File, w.files[f.File].id}, data("n", covered), data("n", len(f.Lines)), data("what", strings.Join(ranges(f.Missed), ", ")))
	}
	w.end()
	if d.Tests != nil {
		w.heading("", "Tests")
		w.table("tests", "number", "test")
		for i, name := range d.Tests {
			w.row("", "", data("n", i+1), data("what", name))
		}
		w.end()
	}
	for _, g := range d.Groups {
		w.items(g.Name, g.Items)
	}
	for _, f := range d.Files {
		w.file(&f)
	}
	w.WriteString("</body>\n</html>\n")
	return w.String()
}

// page is the text of a page. cell escapes what it writes, and makes invisible characters visible.
type page struct {
	strings.Builder
	files map[string]pageFile
}

// pageFile is a file on a page: the id of its heading, with which the ids of its lines begin, and their texts.
type pageFile struct {
	id    string
	lines []string
}

// cell is a cell of a table, with a link if to is not empty.
type cell struct{ class, text, to string }

func data(class string, v any) cell { return cell{class: class, text: fmt.Sprint(v)} }

func escaped(s string) string { return html.EscapeString(text.Visible(s)) }

func (w *page) heading(id, s string) {
	if id != "" {
		id = ` id="` + id + `"`
	}
	fmt.Fprintf(w, "<h2%s>%s</h2>\n", id, escaped(s))
}

// table begins a table with the headings of its columns, if there are any.
func (w *page) table(class string, columns ...string) {
	fmt.Fprintf(w, "<table class=\"%s\">\n", class)
	if columns != nil {
		fmt.Fprintf(w, "<tr><th>%s</th></tr>\n", strings.Join(columns, "</th><th>"))
	}
}

func (w *page) end() { w.WriteString("</table>\n") }

func (w *page) row(id, class string, cells ...cell) {
	w.WriteString("<tr")
	if id != "" {
		fmt.Fprintf(w, ` id="%s"`, id)
	}
	if class != "" {
		fmt.Fprintf(w, ` class="%s"`, class)
	}
	w.WriteByte('>')
	for _, c := range cells {
		shown := escaped(c.text)
		if c.to != "" {
			shown = fmt.Sprintf(`<a href="#%s">%s</a>`, c.to, shown)
		}
		fmt.Fprintf(w, `<td class="%s">%s</td>`, c.class, shown)
	}
	w.WriteString("</tr>\n")
}

// items lists items, each with a link to the line of its file if the page shows it.
func (w *page) items(name string, items []DocumentItem) {
	if len(items) == 0 {
		return
	}
	w.heading("", name)
	w.table("items", "at", "what", "count", "tests")
	for _, it := range items {
		at, to := fmt.Sprintf("%d:%d", it.Line, it.Col), ""
		if it.File != "" {
			at = it.File + ":" + at
		}
		if f := w.files[it.File]; 0 < it.Line && it.Line <= len(f.lines) {
			to = fmt.Sprintf("%sl%d", f.id, it.Line)
		}
		w.row("", classOf(it.Count), cell{"what", at, to}, data("what", it.Name), data("c", it.Count), data("t", numbers(it.Tests)))
	}
	w.end()
}

// file shows the text of a file with the counts of its lines, then its parts.
func (w *page) file(f *DocumentFile) {
	shown, counted := w.files[f.File], f.Lines
	w.heading(shown.id, f.File)
	w.table("code")
	for i, said := range shown.lines {
		count, class, tests := "", "", ""
		if len(counted) > 0 && counted[0].Line == i+1 {
			l := counted[0]
			count, class, tests, counted = fmt.Sprint(l.Count), classOf(l.Count), numbers(l.Tests), counted[1:]
		}
		said = strings.ReplaceAll(strings.TrimSuffix(said, "\r"), "\t", "    ")
		w.row(fmt.Sprintf("%sl%d", shown.id, i+1), class, data("n", i+1), data("c", count), data("s", said), data("t", tests))
	}
	w.end()
	parts := make([]DocumentItem, len(f.Parts))
	for i, p := range f.Parts {
		parts[i], parts[i].File = p, f.File
	}
	w.items("Parts of lines", parts)
}

func classOf(count int64) string {
	if count == 0 {
		return "miss"
	}
	return "hit"
}

// numbers formats sorted numbers, consecutive ones as ranges.
func numbers(list []int) string {
	var all [][2]int
	for _, n := range list {
		if i := len(all) - 1; i >= 0 && all[i][1] == n-1 {
			all[i][1] = n
		} else {
			all = append(all, [2]int{n, n})
		}
	}
	return strings.Join(ranges(all), ", ")
}

func ranges(list [][2]int) []string {
	return text.Each(list, func(r [2]int) string {
		if r[0] == r[1] {
			return fmt.Sprint(r[0])
		}
		return fmt.Sprintf("%d-%d", r[0], r[1])
	})
}
