package message

import (
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// MaxName bounds the names that are compared, and thereby the work.
const MaxName = 64

// DidYouMean returns "did you mean x?" for the candidate nearest to name, or "".
func DidYouMean(name string, candidates []string) string {
	best, bestDist := "", MaxName
	if len(name) > MaxName {
		return ""
	}
	folded := strings.ToLower(name)
	for _, c := range candidates {
		if len(c) > MaxName || c == name || max(len(c)-len(name), len(name)-len(c)) >= bestDist {
			continue
		}
		if d := text.Distance([]byte(folded), []byte(strings.ToLower(c)), false); d < bestDist {
			best, bestDist = c, d
		}
	}
	// One typo per three letters is a typo; more make another word.
	if best == "" || bestDist > (max(len(name), len(best))+2)/3 {
		return ""
	}
	return "did you mean " + best + "?"
}
