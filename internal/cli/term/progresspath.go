package term

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ProgressPath returns a readable position: main/then:review#0/par0[3]/agent:critic#1/llm0 becomes
// review/par[3]/critic#1. It omits what is always there, and the middle of a long position, since the lines of deeply
// nested compositions would grow with their depth.
func ProgressPath(path string) string {
	if len(path) > 2*longestEnd {
		begin, end := path[:longestEnd], path[len(path)-longestEnd:]
		path = begin[:max(0, strings.LastIndexByte(begin, '/'))] + end[max(0, strings.IndexByte(end, '/')):]
	}
	segs := Segments(path)
	whole := strings.Join(segs, "/")
	switch {
	case whole == "":
		return "main"
	case len(segs) <= kept+1 || utf8.RuneCountInString(whole) <= farthest:
		return whole
	}
	begin := strings.Join(segs[:kept], "/") + "/…"
	room := farthest - utf8.RuneCountInString(begin)
	from := len(segs)
	for from > kept && (from == len(segs) || utf8.RuneCountInString(segs[from-1]) < room) {
		from--
		room -= utf8.RuneCountInString(segs[from]) + 1
	}
	return begin + "/" + strings.Join(segs[from:], "/")
}

const (
	farthest   = 100  // runes of a shown position, except for a single longer segment
	kept       = 2    // segments at its beginning that are always shown
	longestEnd = 2048 // bytes of its beginning and of its end that are examined: no more are shown
)

// Segments returns the segments of a position for people, without the first one, which carries no information.
func Segments(path string) []string {
	var out []string
	segs := strings.Split(path, "/")
	for i, seg := range segs {
		if i == 0 || strings.HasPrefix(seg, "llm") || strings.HasPrefix(seg, "tool:") {
			continue
		}
		if round, ok := strings.CutPrefix(seg, "round"); ok {
			out = append(out, roundOf(round, i+1 < len(segs) && strings.Contains(segs[i+1], ":")))
			continue
		}
		index := ""
		if j := strings.IndexByte(seg, '['); j >= 0 {
			seg, index = seg[:j], seg[j:]
		}
		if _, name, named := strings.Cut(seg, ":"); named {
			seg = strings.TrimSuffix(name, "#0")
		} else if kind, zero := strings.CutSuffix(seg, "0"); zero && strings.Trim(kind, "0123456789") == kind {
			seg = kind
		}
		out = append(out, seg+index)
	}
	return out
}

// roundOf returns a forum's round0[1], the second participant in the first round, as round 1 if the participant's name
// follows, and otherwise as round 1.2.
func roundOf(seg string, named bool) string {
	var n, who int
	if _, err := fmt.Sscanf(seg, "%d[%d]", &n, &who); err != nil {
		return "round" + seg
	}
	if named {
		return fmt.Sprintf("round %d", n+1)
	}
	return fmt.Sprintf("round %d.%d", n+1, who+1)
}
