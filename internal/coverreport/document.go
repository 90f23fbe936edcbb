package coverreport

import (
	"path/filepath"
	"slices"
)

// Document is the report as JSON.
type Document struct {
	Shares []Share         `json:"shares"`
	Tests  []string        `json:"tests,omitempty"` // if it is known which test ran what; numbered from 1
	Files  []DocumentFile  `json:"files"`
	Groups []DocumentGroup `json:"groups"`
}

// DocumentFile is a file of the report.
type DocumentFile struct {
	File   string         `json:"file"`
	Lines  []DocumentLine `json:"lines"`
	Missed [][2]int       `json:"missed"` // ranges of lines that did not run
	Parts  []DocumentItem `json:"parts"`
}

// DocumentLine is a line on which statements begin.
type DocumentLine struct {
	Line  int   `json:"line"`
	Count int64 `json:"count"`
	Tests []int `json:"tests,omitempty"` // the numbers of the tests that ran it
}

// DocumentGroup is a group of the report.
type DocumentGroup struct {
	Name  string         `json:"name"`
	Items []DocumentItem `json:"items"`
}

// DocumentItem is a part of a file, or an item of a group.
type DocumentItem struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line"`
	Col   int    `json:"col"`
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Tests []int  `json:"tests,omitempty"`
}

// Document returns the report in its JSON form.
func (r *Report) Document() Document {
	d := Document{Shares: r.Shares(), Tests: r.tests, Files: []DocumentFile{}, Groups: []DocumentGroup{}}
	for _, f := range r.files() {
		out := DocumentFile{File: f.name, Lines: []DocumentLine{}, Missed: f.missed(), Parts: []DocumentItem{}}
		if out.Missed == nil {
			out.Missed = [][2]int{}
		}
		for _, l := range f.lines {
			out.Lines = append(out.Lines, DocumentLine{l.number, l.count, slices.Sorted(slices.Values(l.tests))})
		}
		for _, p := range f.parts {
			out.Parts = append(out.Parts, DocumentItem{Line: p.Line, Col: p.Col, Name: string(p.Kind), Count: p.Count, Tests: slices.Sorted(slices.Values(p.tests))})
		}
		d.Files = append(d.Files, out)
	}
	for _, g := range r.groups {
		out := DocumentGroup{Name: g.Name, Items: []DocumentItem{}}
		for _, it := range g.Items {
			var tests []int
			for _, test := range it.Tests {
				tests = append(tests, r.number(test))
			}
			slices.Sort(tests)
			file := it.Pos.File
			if file != "" {
				file = filepath.ToSlash(filepath.Clean(file))
			}
			out.Items = append(out.Items, DocumentItem{file, it.Pos.Line, it.Pos.Col, it.Name, it.Count, tests})
		}
		d.Groups = append(d.Groups, out)
	}
	return d
}
