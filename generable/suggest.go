package generable

import "strings"

// maxSuggestLen bounds the names that are compared, and with them the work.
const maxSuggestLen = 64

// didYouMean returns "did you mean x?" for the candidate nearest to name, or "".
func didYouMean(name string, candidates []string) string {
	best, bestDist := "", maxSuggestLen
	if len(name) > maxSuggestLen {
		return ""
	}
	folded := strings.ToLower(name)
	for _, c := range candidates {
		if len(c) > maxSuggestLen || c == name || max(len(c)-len(name), len(name)-len(c)) >= bestDist {
			continue
		}
		if d := editDistance(folded, strings.ToLower(c)); d < bestDist {
			best, bestDist = c, d
		}
	}
	// One slip per three letters is a slip; more is another word.
	if best == "" || bestDist > (max(len(name), len(best))+2)/3 {
		return ""
	}
	return "did you mean " + best + "?"
}

// editDistance is the least number of single-byte edits that turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next := min(row[j]+1, row[j-1]+1, diag+cost)
			diag, row[j] = row[j], next
		}
	}
	return row[len(b)]
}
