// Package draw shows a composition as a diagram: Mermaid and Graphviz DOT as text, SVG that
// needs nothing else, and JSON for other tools.
//
// All forms show the same picture. Every agent and step is a box, every edge carries the
// type that flows along it, a branch is a diamond whose edges carry the keys of its routes,
// parallel branches meet in a join, and structures that have a name are frames. The same
// node gives the same text: ids are numbered in the order of the composition.
package draw
