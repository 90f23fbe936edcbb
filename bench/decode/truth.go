package main

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
)

// score says how much of a result is right: a fast but wrong answer scores nothing.
type score struct {
	Exact int  // items that are exactly as written
	Total int  // items in the text
	Junk  bool // the root is more than the catalogue, or has items that were never written
}

func (s score) String() string {
	out := fmt.Sprintf("%d of %d", s.Exact, s.Total)
	if s.Junk {
		out += ", junk beside"
	}
	return out
}

func (s score) perfect() bool { return s.Exact == s.Total && !s.Junk }

// judge compares a result with what the document was written from. whole is the number of complete items. If cut is
// true, one more item, which the end of the text cut off, may be present in any state.
func judge(result any, whole int, cut bool) score {
	s := score{Total: whole}
	name, items, other := catalogueOf(result)
	for i := range min(whole, len(items)) {
		if got, ok := itemOf(items[i]); ok && reflect.DeepEqual(got, itemAt(i)) {
			s.Exact++
		}
	}
	most := whole
	if cut {
		most++
	}
	s.Junk = other || name != catalogueName || len(items) > most
	return s
}

// catalogueOf splits a result into its parts. other is true if the root has more members, or is something else.
func catalogueOf(result any) (name string, items []any, other bool) {
	switch r := result.(type) {
	case *catalogue:
		for _, it := range r.Items {
			items = append(items, it)
		}
		return r.Name, items, false
	case generable.Value:
		var plain any
		if err := govalue.Into(r, &plain); err != nil {
			return "", nil, true
		}
		return catalogueOf(plain)
	case map[string]any:
		name, _ = r["name"].(string)
		items, _ = r["items"].([]any)
		return name, items, len(r) != 2
	}
	return "", nil, true
}

// itemOf reads an item of a result: a struct, or a map with exactly the members of an item.
func itemOf(v any) (item, bool) {
	if it, ok := v.(item); ok {
		return it, true
	}
	m, ok := v.(map[string]any)
	if !ok || len(m) != 8 {
		return item{}, false
	}
	note, there := m["note"]
	within, _ := m["span"].(map[string]any)
	if !there || note != nil || len(within) != 2 {
		return item{}, false
	}
	all := true
	text := func(v any) string { s, ok := v.(string); all = all && ok; return s }
	whole := func(v any) int64 { n, ok := integer(v); all = all && ok; return n }
	it := item{ID: whole(m["id"]), Title: text(m["title"]), Severity: text(m["severity"]), Span: span{whole(within["from"]), whole(within["to"])}}
	it.Score, ok = m["score"].(float64)
	all = all && ok
	it.Done, ok = m["done"].(bool)
	all = all && ok
	tags, ok := m["tags"].([]any)
	all = all && ok
	for _, t := range tags {
		it.Tags = append(it.Tags, text(t))
	}
	return it, all
}

// integer accepts the forms in which untyped decoders return an integer, such as a float with exactly its value.
func integer(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), float64(int64(n)) == n
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	}
	return 0, false
}
