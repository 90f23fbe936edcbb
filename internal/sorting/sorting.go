// Package sorting sorts lists with one copy of the algorithm for all types of items. The compiler makes a copy of
// slices.SortStableFunc, some 15 kB of the binary, for each type of struct. Such a copy is faster, so hot code should
// use slices.SortStableFunc.
package sorting

import "sort"

// By sorts a list stably by compare.
func By[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
