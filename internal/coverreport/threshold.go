package coverreport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// Threshold is the minimum share of a group, in percent.
type Threshold struct {
	Name string
	Min  float64
}

// ParseThresholds reads thresholds such as lines=80,edges=100, for groups of the given names.
func ParseThresholds(s string, names []string) ([]Threshold, error) {
	var all []Threshold
	for part := range strings.SplitSeq(s, ",") {
		name, number, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q has no =", part)
		case !slices.Contains(names, name):
			if near, is := diag.Suggest(name, names); is {
				return nil, fmt.Errorf("nothing is called %q; did you mean %q?", name, near)
			}
			return nil, fmt.Errorf("nothing is called %q: there are %s", name, strings.Join(names, ", "))
		case slices.ContainsFunc(all, func(t Threshold) bool { return t.Name == name }):
			return nil, fmt.Errorf("%s appears twice", name)
		}
		least, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(number), "%"), 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", number)
		}
		if !(least >= 0 && least <= 100) {
			return nil, fmt.Errorf("%s is not between 0 and 100", strings.TrimSpace(number))
		}
		all = append(all, Threshold{name, least})
	}
	return all, nil
}

// Below lists the shares that are less than their thresholds.
func (r *Report) Below(thresholds []Threshold) (missed []string) {
	shares := r.Shares()
	for _, t := range thresholds {
		for _, s := range shares {
			if s.Name == t.Name && s.Percent < t.Min {
				missed = append(missed, fmt.Sprintf("%s: %s%% is below %s%%", s.Name, percent(s.Percent), strconv.FormatFloat(t.Min, 'f', -1, 64)))
			}
		}
	}
	return missed
}
