// Package coverreport reports what tests ran: as text with the lines that did not run, as JSON, and as LCOV for other
// programs. It adds up the counts of any number of loads.
package coverreport

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/starlib"
)

// Group is a kind of things other than lines that tests can pass through, for example edges of flows.
type Group struct {
	Name  string
	Items []Item
}

// Item is an item of a group, with the number of times that tests passed through it.
type Item struct {
	Name  string
	Pos   diag.Pos
	Count int64
	Tests []string // those that passed through it, if known
}

// The names of the groups that a report builds from places.
const (
	Lines = "lines" // lines on which statements begin
	Parts = "parts" // bodies of lambdas, arms of conditions, elements of comprehensions
)

// Report adds up what tests ran.
type Report struct {
	places map[place]*counted
	groups []*Group
	tests  []string
}

// counted is a place with the numbers of the tests that ran it.
type counted struct {
	starlib.Place
	tests []int
}

// place identifies a place.
type place struct {
	kind, name     string
	at             diag.Pos
	endLine, endCo int
}

// New returns an empty report.
func New() *Report { return &Report{places: map[place]*counted{}} }

// Add adds what a test ran; "" means none, or any. The counts of places that it already contains are added, from
// whichever load they are.
func (r *Report) Add(test string, places []starlib.Place) {
	number := r.number(test)
	for _, p := range places {
		p.File = filepath.ToSlash(filepath.Clean(p.File))
		key := place{string(p.Kind), p.Name, p.Pos, p.EndLine, p.EndCol}
		known := r.places[key]
		if known == nil {
			known = &counted{Place: p}
			known.Count = 0
			r.places[key] = known
		}
		if known.Count += p.Count; test != "" && p.Count > 0 && !slices.Contains(known.tests[max(0, len(known.tests)-1):], number) {
			known.tests = append(known.tests, number)
		}
	}
}

// number returns the number of a test, from 1.
func (r *Report) number(test string) int {
	i := slices.Index(r.tests, test)
	if i < 0 && test != "" {
		i = len(r.tests)
		r.tests = append(r.tests, test)
	}
	return i + 1
}

// Ways returns the ways of calls that were added, by position.
func (r *Report) Ways() (items []Item) {
	for _, p := range r.places {
		if p.Kind == starlib.WayPlace {
			item := Item{Name: p.Name, Pos: p.Pos, Count: p.Count}
			for _, n := range p.tests {
				item.Tests = append(item.Tests, r.tests[n-1])
			}
			items = append(items, item)
		}
	}
	sorting.By(items, func(a, b Item) int { return cmp.Or(comparePos(a.Pos, b.Pos), cmp.Compare(a.Name, b.Name)) })
	return items
}

func comparePos(a, b diag.Pos) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// AddGroup adds the items of a group. It does not add up items that exist already: see cover.Merge.
func (r *Report) AddGroup(name string, items []Item) {
	r.groups = append(r.groups, &Group{name, items})
}

// Share is the part of a group that was run.
type Share struct {
	Name    string  `json:"name"`
	Covered int     `json:"covered"`
	Total   int     `json:"total"`
	Percent float64 `json:"percent"` // 100 for an empty group
}

// none reports whether the group is empty and not of interest. Lines are always of interest.
func (s Share) none() bool { return s.Total == 0 && s.Name != Lines }

func share(name string, covered, total int) Share {
	s := Share{name, covered, total, 100}
	if total > 0 {
		s.Percent = 100 * float64(covered) / float64(total)
	}
	return s
}

// Shares returns the shares of lines and parts, then of the groups in the order in which they were added.
func (r *Report) Shares() []Share {
	covered, total, parts, allParts := 0, 0, 0, 0
	for _, f := range r.files() {
		covered, total = covered+f.covered(), total+len(f.lines)
		for _, p := range f.parts {
			if allParts++; p.Count > 0 {
				parts++
			}
		}
	}
	shares := []Share{share(Lines, covered, total), share(Parts, parts, allParts)}
	for _, g := range r.groups {
		n := 0
		for _, it := range g.Items {
			if it.Count > 0 {
				n++
			}
		}
		shares = append(shares, share(g.Name, n, len(g.Items)))
	}
	return shares
}

// file is what ran in one file.
type file struct {
	name      string
	lines     []line
	parts     []*counted
	functions []function
}

// line is a line on which statements begin. Its count is the lowest of theirs, and its tests are those that ran that
// statement.
type line struct {
	number, end int
	count       int64
	tests       []int
}

// function is a def. Its number of calls is the count of its first statement.
type function struct {
	name  string
	line  int
	calls int64
}

func (f *file) covered() (n int) {
	for _, l := range f.lines {
		if l.count > 0 {
			n++
		}
	}
	return n
}

// files returns the files by name, their lines and parts by position.
func (r *Report) files() []*file {
	places := make([]*counted, 0, len(r.places))
	for _, p := range r.places {
		if p.Kind != starlib.WayPlace {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b *counted) int {
		return cmp.Or(comparePos(a.Pos, b.Pos), cmp.Compare(b.EndLine, a.EndLine), cmp.Compare(b.EndCol, a.EndCol), cmp.Compare(a.Kind, b.Kind))
	})
	var files []*file
	for _, p := range places {
		if len(files) == 0 || files[len(files)-1].name != p.File {
			files = append(files, &file{name: p.File})
		}
		files[len(files)-1].add(p)
	}
	return files
}

// add adds the next place of a file.
func (f *file) add(p *counted) {
	if p.Kind != starlib.StatementPlace {
		f.parts = append(f.parts, p)
		return
	}
	if n := len(f.lines); n > 0 && f.lines[n-1].number == p.Line {
		if p.Count < f.lines[n-1].count {
			f.lines[n-1].count, f.lines[n-1].tests = p.Count, p.tests
		}
		f.lines[n-1].end = max(f.lines[n-1].end, p.EndLine)
	} else {
		f.lines = append(f.lines, line{p.Line, p.EndLine, p.Count, p.tests})
	}
	known := slices.ContainsFunc(f.functions, func(fn function) bool { return fn.line == p.FunctionLine && fn.name == p.Function })
	if p.Function != "" && !known {
		f.functions = append(f.functions, function{p.Function, p.FunctionLine, p.Count})
	}
}

// missed returns the lines that did not run, as ranges that contain no line that did.
func (f *file) missed() (ranges [][2]int) {
	open := false
	for _, l := range f.lines {
		switch {
		case l.count > 0:
			open = false
		case open:
			ranges[len(ranges)-1][1] = max(ranges[len(ranges)-1][1], l.end)
		default:
			ranges, open = append(ranges, [2]int{l.number, l.end}), true
		}
	}
	return ranges
}
