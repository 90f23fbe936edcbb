// Package tree shows a run at a terminal as a live tree of its nodes.
//
// It has three parts. The state takes events and keeps a node for each position. The view makes lines of it for a
// size, in a time that depends on the lines and not on the branches. The screen writes lines to the terminal. [Tree] puts
// them together and is driven by a clock that its caller passes; [Live] drives one while a run goes on, and reads keys.
package tree
