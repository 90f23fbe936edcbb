// Package compose has the builtins that compose nodes, and those by which running functions call nodes and functions at
// their own positions.
package compose
