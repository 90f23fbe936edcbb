package tree

import "github.com/rivo/uniseg"

// cellsOf is how many cells of a terminal a text takes.
func cellsOf(s string) int { return uniseg.StringWidth(s) }

// clip returns s if it takes at most so many cells, else as much of it as fits before an ellipsis.
func clip(s string, most int) string {
	if cellsOf(s) <= most {
		return s
	}
	at, used, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		var wide int
		if cluster, rest, wide, state = uniseg.FirstGraphemeClusterInString(rest, state); used+wide > most-1 {
			break
		}
		used += wide
		at += len(cluster)
	}
	if most <= 0 {
		return ""
	}
	return s[:at] + "…"
}
