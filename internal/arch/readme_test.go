package arch

import (
	"fmt"
	"strings"
)

// Block returns the first fenced block of a Markdown page after a line, without its fences. The CI script finds the
// commands of the README in the same way.
func Block(page, line string) (string, error) {
	var out []string
	armed, inside := false, false
	for _, l := range strings.Split(page, "\n") {
		switch {
		case l == line:
			armed = true
		case armed && strings.HasPrefix(l, "```"):
			if inside {
				return strings.Join(out, "\n"), nil
			}
			inside = true
		case inside:
			out = append(out, l)
		}
	}
	return "", fmt.Errorf("no fenced block below the line %q", line)
}
