// Package inside goes through maps.
package inside

import (
	"maps"
	"slices"
	"sort"
)

type rows map[string]int

type record struct {
	rows  map[string]int
	named rows
	list  []string
}

var known = map[string]bool{}

func made() rows { return nil }

func bad(r *record, given map[string]int, list []string) (out []string) {
	for id := range r.rows { // want "goes through the map r.rows in an order that is chance"
		out = append(out, id)
	}
	for id, n := range r.named { // want "goes through the map r.named in an order that is chance"
		println(id, n)
	}
	for id := range given { // want "goes through the map given in an order that is chance"
		println(id)
	}
	for id := range known { // want "goes through the map known in an order that is chance"
		println(id)
	}
	for id := range made() { // want "goes through the map made() in an order that is chance"
		println(id)
	}
	local := make(map[int]int)
	for id := range local { // want "goes through the map local in an order that is chance"
		list[id] = ""
	}
	for id := range maps.Keys(given) { // want "takes maps.Keys(given) in an order that is chance"
		println(id)
	}
	return slices.Collect(maps.Keys(r.rows)) // want "takes maps.Keys(r.rows) in an order that is chance"
}

func sortedAfterSomethingElse(r *record) (out []string) {
	for id := range r.rows { // want "goes through the map r.rows in an order that is chance"
		println(id)
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

func good(r *record, list []string) (out []string) {
	for _, id := range slices.Sorted(maps.Keys(r.rows)) {
		println(id)
	}
	for id, n := range r.rows {
		if n > 0 {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	all := slices.Collect(maps.Keys(r.rows))
	sort.Strings(all)
	for range r.rows { // one is as good as another
		println()
	}
	for _, s := range list {
		println(s)
	}
	for _, s := range r.list {
		println(s)
	}
	return out
}

func allowed(r *record) (n int) {
	for _, i := range r.rows {
		n += i
	}
	return n
}
