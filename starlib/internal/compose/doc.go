// Package compose has the builtins that compose nodes, and those by which functions that run
// call nodes and functions at positions of their own.
package compose
