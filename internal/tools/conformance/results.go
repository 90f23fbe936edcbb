package main

import (
	"bufio"
	"os"
	"regexp"
	"strings"
)

// The states of a promise.
const (
	holds    = "holds"
	notBuilt = "not built"
	skipped  = "skipped"
	failed   = "FAILS"
	notHere  = "not here" // what the test needs is built on demand: the page keeps its state
)

var (
	begunLine   = regexp.MustCompile(`^=== (?:RUN|CONT|NAME) +(\S+)$`)
	logLine     = regexp.MustCompile(`^\s+[A-Za-z0-9_]+\.go:[0-9]+: (.*)$`)
	verdictLine = regexp.MustCompile(`^--- (PASS|SKIP|FAIL): (\S+) \(`)
)

// read sets the states of promises from the output of go test -v in a file. A promise that is not mentioned fails.
func read(log string, promises []*promise) error {
	file, err := os.Open(log)
	if err != nil {
		return err
	}
	defer file.Close() // it is only read
	byTest := map[string]*promise{}
	for _, p := range promises {
		byTest[p.test], p.state = p, failed
	}
	said := map[string]string{} // the last line that a test logged
	test := ""
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if m := begunLine.FindStringSubmatch(lines.Text()); m != nil {
			test = m[1]
		} else if m := logLine.FindStringSubmatch(lines.Text()); m != nil {
			said[test] = m[1]
		} else if m := verdictLine.FindStringSubmatch(lines.Text()); m != nil && byTest[m[2]] != nil {
			byTest[m[2]].judge(m[1], said[m[2]])
		}
	}
	return lines.Err()
}

// keepStates sets the states of a page for the promises for which stays returns true. A promise that the page does not
// contain yet gets none, or stays not here.
func keepStates(page string, promises []*promise, stays func(*promise) bool) {
	cells := map[string]string{}
	for _, row := range rows(page) {
		fields := strings.Split(strings.Trim(row, "| "), " | ")
		cells[fields[0]] = fields[len(fields)-1]
	}
	for _, p := range promises {
		if cell, known := cells[p.number()]; stays(p) && (known || p.state != notHere) {
			p.state, p.reason, _ = strings.Cut(cell, ": ")
		}
	}
}

// judge sets the state from the verdict of go test, and the reason of a skipped test.
func (p *promise) judge(verdict, reason string) {
	switch verdict {
	case "PASS":
		p.state = holds
	case "SKIP":
		p.state, p.reason = skipped, reason
		for _, state := range []string{notBuilt, notHere} {
			if missing, is := strings.CutPrefix(reason, state+": "); is {
				p.state, p.reason = state, missing
			}
		}
	}
}
