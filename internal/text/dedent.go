package text

import "strings"

// Dedent returns s without the blanks and tabs that all of its lines begin with. Lines of only blanks and tabs do not
// count, and become empty. Everything else stays.
func Dedent(s string) string {
	margin, first := "", true
	for line := range strings.SplitSeq(s, "\n") {
		body := strings.TrimLeft(line, " \t")
		lead := line[:len(line)-len(body)]
		switch {
		case strings.Trim(body, "\r") == "":
		case first:
			margin, first = lead, false
		default:
			n := 0
			for n < len(margin) && n < len(lead) && margin[n] == lead[n] {
				n++
			}
			margin = margin[:n]
		}
		if margin == "" && !first {
			return s
		}
	}
	if margin == "" {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, margin); ok {
			lines[i] = rest
		} else { // only blanks
			lines[i] = strings.TrimLeft(line, " \t")
		}
	}
	return strings.Join(lines, "\n")
}
