package text

import "strings"

// Written removes what a text has only because it is written inside code: the common indentation, and blank lines at
// both ends. Lines keep any further indentation. Blank lines do not count for the indentation.
func Written(s string) string {
	if !strings.Contains(s, "\n") {
		return strings.TrimSpace(s)
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	margin, first := "", true
	for i, line := range lines {
		body := strings.TrimLeft(line, " \t")
		if body == "" {
			lines[i] = ""
			continue
		}
		if i == 0 {
			continue // follows the quotes directly
		}
		lead := line[:len(line)-len(body)]
		if first {
			margin, first = lead, false
			continue
		}
		n := 0
		for n < len(margin) && n < len(lead) && margin[n] == lead[n] {
			n++
		}
		margin = margin[:n]
	}
	for i, line := range lines {
		if i == 0 {
			lines[i] = strings.TrimLeft(line, " \t")
			continue
		}
		lines[i] = strings.TrimRight(strings.TrimPrefix(line, margin), " \t")
	}
	return strings.TrimRight(strings.TrimLeft(strings.Join(lines, "\n"), "\n"), "\n \t")
}
