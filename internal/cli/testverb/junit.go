package testverb

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/internal/text"
)

// junitSuites is the report of a round as JUnit XML, with a suite for each file.
type junitSuites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     seconds  `xml:"time,attr"`
	Suites   []*junitSuite

	sourced func(diag.List) diag.List // see [term.Console.Sourced]
}

type junitSuite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     seconds  `xml:"time,attr"`
	Cases    []junitCase
}

type junitCase struct {
	XMLName    xml.Name         `xml:"testcase"`
	Name       string           `xml:"name,attr"`
	Class      string           `xml:"classname,attr"`
	File       string           `xml:"file,attr"`
	Line       int              `xml:"line,attr,omitempty"`
	Time       seconds          `xml:"time,attr"`
	Properties *junitProperties // nil if there are none
	Skipped    *junitProblem    `xml:"skipped"`
	Failure    *junitProblem    `xml:"failure"`
	Error      *junitProblem    `xml:"error"`
	Out        string           `xml:"system-out,omitempty"`
}

type junitProperties struct {
	XMLName xml.Name        `xml:"properties"`
	All     []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitProblem struct {
	Message string `xml:"message,attr,omitempty"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// seconds are written as a decimal number, which some readers require.
type seconds float64

func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s), 'f', 6, 64), nil
}

// suite returns the suite of a file, creating it on the first call.
func (s *junitSuites) suite(f *testrun.File) *junitSuite {
	if n := len(s.Suites); n > 0 && s.Suites[n-1].Name == f.Shown() {
		return s.Suites[n-1]
	}
	s.Suites = append(s.Suites, &junitSuite{Name: f.Shown()})
	return s.Suites[len(s.Suites)-1]
}

// add adds a test and those inside it. The trace is that of the whole test.
func (s *junitSuites) add(report *testrun.Report, r *testrun.Result, trace string) {
	suite := s.suite(report.File)
	for _, sub := range r.Subs {
		s.add(report, sub, trace)
	}
	if !counted(r) {
		return
	}
	own := r.Time // without nested tests, which are reported themselves
	for _, sub := range r.Subs {
		own -= sub.Time
	}
	one := suite.open(r.Name, seconds(max(own, 0).Seconds()))
	one.Line, one.Out = r.Pos.Line, strings.Join(r.Log, "\n")
	one.property("tokens", r.Tokens, r.Tokens > 0)
	one.property("cost_usd", r.CostUSD, r.CostUSD > 0)
	one.property("seed", r.Seed, r.Seed > 0)
	one.property("trace", trace, trace != "" && r.Status.Bad())
	switch {
	case r.Status == testrun.Skipped:
		one.Skipped = &junitProblem{Message: r.Reason}
		suite.Skipped++
	case r.Status.Bad():
		d := &diag.Diagnostic{Message: "a test inside of it failed"}
		if r.Err != nil {
			d = term.Diagnose(r.Err)
		}
		one.Failure = &junitProblem{Message: d.Message, Type: string(d.Code), Text: rendered(s.sourced(diag.List{d}), report.Sources)}
		if k := r.Flake; k != nil {
			one.Failure.Type = "flaky"
			one.property("flaky", true, true)
			one.property("seeds", fmt.Sprintf("%d %d", k.Seeds[0], k.Seeds[1]), true)
		}
		suite.Failures++
	}
}

// found adds what is wrong with a file as a whole.
func (s *junitSuites) found(report *testrun.Report, wrong diag.List) {
	suite := s.suite(report.File)
	if len(wrong) == 0 {
		return
	}
	one := suite.open("(file)", 0)
	one.Error = &junitProblem{Message: wrong[0].Message, Type: string(wrong[0].Code), Text: rendered(wrong, report.Sources)}
	suite.Errors++
}

func (s *junitSuite) open(name string, took seconds) *junitCase {
	s.Tests++
	s.Time += took
	s.Cases = append(s.Cases, junitCase{Name: name, Class: strings.TrimSuffix(filepath.ToSlash(s.Name), ".star"), File: s.Name, Time: took})
	return &s.Cases[len(s.Cases)-1]
}

func (c *junitCase) property(name string, value any, has bool) {
	if !has {
		return
	}
	if c.Properties == nil {
		c.Properties = &junitProperties{}
	}
	c.Properties.All = append(c.Properties.All, junitProperty{name, fmt.Sprint(value)})
}

// rendered returns diagnostics as a terminal without colours shows them.
func rendered(found diag.List, sources diag.Sources) string {
	var b strings.Builder
	_ = diag.Render(&b, found, sources, diag.Options{NoSummary: true}) // a Builder never fails
	return b.String()
}

// writeJUnit writes the report to the file of --junit, if there is one.
func (r *round) writeJUnit() error {
	if r.junitTo == nil {
		return nil
	}
	r.junit.Name, r.junit.Time = "agentscript test", seconds(r.took.Seconds())
	for _, s := range r.junit.Suites {
		r.junit.Tests += s.Tests
		r.junit.Failures += s.Failures
		r.junit.Errors += s.Errors
		r.junit.Skipped += s.Skipped
		for i := range s.Cases {
			s.Cases[i].clean(r.Console)
		}
	}
	report, err := xml.MarshalIndent(&r.junit, "", "  ")
	if err != nil {
		return err
	}
	return r.junitTo.Write(xml.Header + string(report) + "\n")
}

// clean removes keys and control characters from a test's texts, before they become XML.
func (c *junitCase) clean(console *term.Console) {
	texts := []*string{&c.Name, &c.Out}
	for _, p := range []*junitProblem{c.Skipped, c.Failure, c.Error} {
		if p != nil {
			texts = append(texts, &p.Message, &p.Text)
		}
	}
	if c.Properties != nil {
		for i := range c.Properties.All {
			texts = append(texts, &c.Properties.All[i].Value)
		}
	}
	for _, s := range texts {
		*s = text.Terminal(console.Hidden(*s))
	}
}
