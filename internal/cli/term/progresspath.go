package term

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// progressPath writes a position for people: main/then:review#0/par0[3]/agent:critic#1/llm0 is
// review/par[3]/critic#1. What is always there is left out, and the middle of a position that is
// long: the deeper a composition is nested the longer each of its lines would be.
func progressPath(path string) string {
	begin, end := ends(path)
	first := segments(begin, true)
	if end == "" {
		return fold(first, nil)
	}
	return fold(first, segments(end, false))
}

const (
	farthest  = 100 // runes that a position is shown in, beyond a segment that is longer by itself
	shownEnds = 32  // segments of a position's beginning and of its end that are looked at
)

// ends gives the beginning and the end of a position that has very many segments, else all of it.
func ends(path string) (begin, end string) {
	i, j := 0, len(path)
	for range shownEnds {
		n := strings.IndexByte(path[i:], '/')
		if n < 0 {
			return path, ""
		}
		i += n + 1
	}
	for range shownEnds {
		if j = strings.LastIndexByte(path[:j], '/'); j < i {
			return path, ""
		}
	}
	return path[:i-1], path[j+1:]
}

// fold joins segments, of which there were others between first and last when both are given. Those
// at the very beginning and at the end are kept as far as there is room.
func fold(first, last []string) string {
	const kept = 2
	if len(last) == 0 {
		whole := strings.Join(first, "/")
		switch {
		case whole == "":
			return "main"
		case len(first) <= kept+1 || utf8.RuneCountInString(whole) <= farthest:
			return whole
		}
		first, last = first[:kept], first[kept:]
	}
	begin := strings.Join(first[:min(kept, len(first))], "/") + "/…"
	room := farthest - utf8.RuneCountInString(begin)
	from := len(last) - 1
	for room -= utf8.RuneCountInString(last[from]) + 1; from > 0; from-- {
		if room -= utf8.RuneCountInString(last[from-1]) + 1; room < 0 {
			break
		}
	}
	return begin + "/" + strings.Join(last[from:], "/")
}

// segments writes the segments of a position for people. The first one of a whole position says
// nothing.
func segments(path string, whole bool) []string {
	var out []string
	segs := strings.Split(path, "/")
	for i, seg := range segs {
		if i == 0 && whole || strings.HasPrefix(seg, "llm") || strings.HasPrefix(seg, "tool:") {
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

// roundOf writes a forum's round0[1], the second participant in the first round, as round 1 when
// the participant's name follows, else as round 1.2.
func roundOf(seg string, named bool) string {
	round, i, _ := strings.Cut(strings.TrimSuffix(seg, "]"), "[")
	n, err := strconv.Atoi(round)
	who, err2 := strconv.Atoi(i)
	if err != nil || err2 != nil {
		return "round" + seg
	}
	if named {
		return fmt.Sprintf("round %d", n+1)
	}
	return fmt.Sprintf("round %d.%d", n+1, who+1)
}
