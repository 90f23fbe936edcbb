package diag_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

func TestPosString(t *testing.T) {
	for _, tt := range []struct {
		pos   diag.Pos
		want  string
		valid bool
	}{
		{diag.Pos{}, "", false},
		{diag.Pos{File: "a.star"}, "a.star", false},
		{diag.Pos{File: "a.star", Line: 3}, "a.star:3", true},
		{diag.Pos{File: "a.star", Line: 3, Col: 9}, "a.star:3:9", true},
		{diag.Pos{Line: 3, Col: 9}, "3:9", true},
	} {
		if got := tt.pos.String(); got != tt.want || tt.pos.IsValid() != tt.valid {
			t.Errorf("%#v: got %q, %v", tt.pos, got, tt.pos.IsValid())
		}
	}
}

func TestDiagnosticError(t *testing.T) {
	if got, want := join().Error(), "review.star:5:14: error[AS301]: `>>` cannot join these"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (&diag.Diagnostic{Severity: diag.Warning, Message: "m"}).Error(), "warning: m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestListErr(t *testing.T) {
	var l diag.List
	l.Add(nil, &diag.Diagnostic{Severity: diag.Warning, Message: "w"})
	if len(l) != 1 || l.HasErrors() || l.Err() != nil {
		t.Errorf("a warning alone is no error: %v", l)
	}
	l.Add(&diag.Diagnostic{Code: diag.FileMissing, Message: "e", Cause: fs.ErrNotExist})
	err := l.Err()
	if err == nil || err.Error() != "warning: w\nerror[AS602]: e" {
		t.Errorf("got %v", err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("errors.Is does not reach the cause")
	}
	var d *diag.Diagnostic
	if !errors.As(err, &d) || d.Message != "w" {
		t.Errorf("errors.As found %v", d)
	}
}

func TestListSort(t *testing.T) {
	d := func(file string, line, col int, code diag.Code, message string) *diag.Diagnostic {
		return &diag.Diagnostic{Code: code, Message: message, Span: at(file, line, col, 1)}
	}
	l := diag.List{
		d("b", 1, 1, "AS201", "1"),
		d("a", 2, 1, "AS201", "2"),
		d("a", 1, 9, "AS201", "3"),
		d("a", 1, 2, "AS301", "4"),
		d("a", 1, 2, "AS201", "5"),
		d("a", 1, 2, "AS201", "0"), // equal except for the message: order kept
		d("a", 2, 1, "AS201", "2"), // repeated
		d("", 0, 0, "AS712", "6"),
	}
	l.Sort()
	var got []string
	for _, d := range l {
		got = append(got, d.Message)
	}
	if want := []string{"6", "5", "0", "4", "3", "2", "1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestJSON(t *testing.T) {
	d := join()
	d.Fixes = []diag.Fix{{Message: "insert", Span: diag.Span{Pos: d.Span.Pos}, Replacement: `>> pick("code") `}}
	d.Trace = []diag.Frame{{Name: "main", Pos: d.Span.Pos}}
	var b bytes.Buffer
	if err := diag.JSON(&b, diag.List{d, {Severity: diag.Warning, Message: "<w>"}, {Severity: diag.Info, Message: "n"}}); err != nil {
		t.Fatal(err)
	}
	golden(t, "json.golden", b.Bytes())
	if !json.Valid(b.Bytes()) {
		t.Error("not JSON")
	}
	b.Reset()
	if err := diag.JSON(&b, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), `{"diagnostics":[],"errors":0,"warnings":0}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSARIF(t *testing.T) {
	d := join()
	d.Fixes = []diag.Fix{{Message: "insert", Span: diag.Span{Pos: d.Span.Pos}, Replacement: `>> pick("code") `}}
	w := &diag.Diagnostic{Code: diag.NoMain, Severity: diag.Warning, Message: "nothing to run", Span: at("a dir/b.star", 0, 0, 0)}
	var b bytes.Buffer
	if err := diag.SARIF(&b, diag.List{d, w, {Severity: diag.Info, Message: "n"}}, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, b.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	golden(t, "sarif.golden", indented.Bytes())
	b.Reset()
	if err := diag.SARIF(&b, nil, ""); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) || !bytes.Contains(b.Bytes(), []byte(`"rules":[]`)) || !bytes.Contains(b.Bytes(), []byte(`"results":[]`)) {
		t.Errorf("got %s", b.Bytes())
	}
}

func TestSeverityText(t *testing.T) {
	for _, s := range []diag.Severity{diag.Error, diag.Warning, diag.Info} {
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back diag.Severity
		if err := back.UnmarshalText(text); err != nil || back != s {
			t.Errorf("%s came back as %s, %v", s, back, err)
		}
	}
	var s diag.Severity
	if err := s.UnmarshalText([]byte("fatal")); err == nil {
		t.Error("an unknown severity was accepted")
	}
}

// A position that several notes describe alike is listed once: the schema of SARIF requires unique related locations.
func TestSARIFListsRelatedPlacesOnce(t *testing.T) {
	line := func(n int) diag.Pos { return diag.Pos{File: "a.star", Line: n, Col: 1} }
	d := &diag.Diagnostic{Code: diag.CannotJoin, Message: "m", Span: diag.Span{Pos: line(1)},
		Notes: []diag.Note{{Message: "here", Pos: line(2)}, {Message: "here", Pos: line(2)}, {Message: "there", Pos: line(2)}, {Message: "here", Pos: line(3)}}}
	var b bytes.Buffer
	if err := diag.SARIF(&b, diag.List{d}, ""); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b.Bytes(), []byte(`"text":"here"`)); n != 2 {
		t.Errorf("the note is listed %d times, want 2:\n%s", n, b.String())
	}
}
