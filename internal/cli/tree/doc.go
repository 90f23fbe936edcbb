// Package tree shows a run at a terminal as a live tree of its nodes.
//
// It has three parts. The state receives events and keeps a node for each position. The view renders lines for a size,
// in a time that depends on the lines and not on the branches. The screen writes lines to the terminal. [Tree] combines
// them and is driven by a clock that its caller passes; [Live] drives a tree during a run, and reads keys.
package tree
