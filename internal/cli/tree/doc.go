// Package tree shows a run at a terminal as a live tree of its nodes.
//
// It has three parts. The state takes events and keeps a node for each position ([Tree.Event]). The view makes lines
// of it for a size, in a time that depends on the lines and not on the branches. The screen writes lines to the
// terminal. The first two are pure: all three are driven by the time that a caller passes.
//
// The cursor rests at the beginning of the frame, never behind it: whatever a terminal does to the lines below when
// its size changes, erasing from the cursor on removes them, and nothing above is touched.
package tree
