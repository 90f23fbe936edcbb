package sorting_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/agentscript/agentscript/internal/sorting"
)

func TestBy(t *testing.T) {
	type item struct{ key, at int }
	var list []item
	for i := range 100 {
		list = append(list, item{key: i * 7 % 10, at: i})
	}
	want := slices.Clone(list)
	slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	sorting.By(list, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	if !slices.Equal(list, want) {
		t.Errorf("got  %v\nwant %v", list, want)
	}
}
