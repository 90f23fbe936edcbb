package dialect

import (
	"strconv"

	"github.com/agentscript/agentscript/generable"
)

// undone counts what was undone. One record tells of all places that share a shape: a list of
// a thousand dicts is one.
type undone struct {
	first map[undoing]int
	list  []generable.Repair
	times []int
}

type undoing struct {
	s    *shape
	kind string
}

// did records that a part was given back its natural form. Such records cost nothing: the
// answer was what it was asked to be.
func (u *undoer) did(s *shape, kind string, at *step) {
	key := undoing{s, kind}
	if i, ok := u.undone.first[key]; ok {
		u.undone.times[i]++
		return
	}
	if u.undone.first == nil {
		u.undone.first = make(map[undoing]int)
	}
	u.undone.first[key] = len(u.undone.list)
	u.undone.list = append(u.undone.list, generable.Repair{Kind: kind, Path: at.String(), Offset: -1, Before: writtenAs[kind], After: s.nat.String()})
	u.undone.times = append(u.undone.times, 1)
}

func (n *undone) records() []generable.Repair {
	for i, times := range n.times {
		if times > 1 {
			n.list[i].After += " (" + strconv.Itoa(times) + " times)"
		}
	}
	return n.list
}

// writtenAs shows each form that is undone.
var writtenAs = map[string]string{
	"wrapped":           `{"value": …}`,
	"dict-as-pairs":     `[{"key": …, "value": …}]`,
	"json-text":         "JSON text",
	"recursion-as-text": "JSON text",
	"union-as-lists":    "lists of variants",
	"integer-as-text":   "digits",
	"tuple-as-object":   `{"0": …}`,
	"renamed":           "another key",
	"required-null":     "null",
	"absent-mark":       `{"absent": true}`,
	"list-of-one":       "a list of at most one item",
	"text-or-blank":     "JSON text or nothing",
}

func textKind(s *shape) string {
	if s.ends {
		return "recursion-as-text"
	}
	return "json-text"
}
