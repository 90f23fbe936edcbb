package measure

import (
	"io"
	"strings"
	"testing"
	"time"
)

type slow struct{ per time.Duration }

func (s slow) Run(n int) (Usage, error) { return Usage{CPU: s.per * time.Duration(n)}, nil }

// uneven takes longer with each call.
type uneven struct{ per time.Duration }

func (u *uneven) Run(n int) (Usage, error) {
	u.per += time.Millisecond
	return Usage{CPU: u.per * time.Duration(n)}, nil
}

type failing struct{}

func (failing) Run(int) (Usage, error) { return Usage{}, io.ErrUnexpectedEOF }

func TestMeasure(t *testing.T) {
	m := Measure([]Task{slow{time.Millisecond}, slow{3 * time.Millisecond}, failing{}}, time.Second, 5)
	if m[0].NS() != 1e6 || len(m[0].Rounds) != 5 || Ratio(m[1], m[0]) != 3 {
		t.Errorf("%+v %+v", m[0], m[1])
	}
	if m[2].Err != io.ErrUnexpectedEOF || m[2].Least() != 0 {
		t.Errorf("error %v, least %v", m[2].Err, m[2].Least())
	}
	if m := Measure([]Task{&uneven{}}, time.Second, 5)[0]; m.Least() != m.Rounds[0] || m.NS() != m.Rounds[2] {
		t.Errorf("least %v, median %v of %v", m.Least(), m.NS(), m.Rounds)
	}
	allocating := InProcess(func() error { kept = make([]byte, 1<<16); return nil })
	if m := Measure([]Task{allocating}, time.Millisecond, 1)[0]; m.Bytes < 1<<16 || m.Bytes > 1<<17 || m.Allocs < 1 {
		t.Errorf("%.0f bytes, %.1f allocations", m.Bytes, m.Allocs)
	}
}

var kept []byte

func TestTables(t *testing.T) {
	var page, text strings.Builder
	table := Table{Title: "Title", Head: []string{"what", "time"}, Rows: [][]string{{"a|b", Duration(1234)}, {"c", ""}}}
	table.Markdown(&page)
	table.Text(&text)
	if want := "\n### Title\n\nwhat | time\n--- | ---\na\\|b | 1.2 µs\nc | –\n"; page.String() != want {
		t.Errorf("%q", page.String())
	}
	if want := "\nTitle\n\nwhat  time\na|b   1.2 µs\nc\n"; text.String() != want {
		t.Errorf("%q", text.String())
	}
	page.Reset()
	Bars(&page, []Bar{{What: "speed", Want: "1 µs", Got: "2 µs"}}, true, "make bench")
	if want := "| speed | 1 µs | **2 µs** | `make bench` |\n"; !strings.HasSuffix(page.String(), want) {
		t.Errorf("%q", page.String())
	}
}
