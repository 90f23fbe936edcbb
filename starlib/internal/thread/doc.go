// Package thread runs functions of a script on the branches of a run. Each branch has one Starlark thread, which its
// callbacks use one after the other.
package thread
