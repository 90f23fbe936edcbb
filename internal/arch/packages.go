package arch

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A package holds one idea: more files or lines than these hold several.
const (
	MaxPackageFiles = 16
	MaxPackageLines = 4500
)

// Sizes returns the packages with more non-test files or lines than they may have. Those in except
// have a reason to.
func Sizes(sources []*Source, except map[string]string) []Finding {
	files, lines := map[string]int{}, map[string]int{}
	for _, s := range sources {
		if !s.Test() {
			files[s.Dir()]++
			lines[s.Dir()] += bytes.Count(s.Text, []byte("\n"))
		}
	}
	var found []Finding
	for dir, n := range files {
		if _, reasoned := except[dir]; reasoned || n <= MaxPackageFiles && lines[dir] <= MaxPackageLines {
			continue
		}
		found = append(found, Finding{dir, fmt.Sprintf("%d files and %d lines, more than %d or %d: it holds more than one idea", n, lines[dir], MaxPackageFiles, MaxPackageLines)})
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Where, b.Where) })
	return found
}
