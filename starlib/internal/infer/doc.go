// Package infer finds mistakes in the code of functions by abstract interpretation. It walks a function forwards and
// tracks, at each place, what every name may hold: which types, on which branches, or no value yet. An operation that
// fails for every alternative is an error; one that fails on some path is a warning that shows the path. Unknown values
// are not reported.
package infer
