// Package script holds what is known of a script while it loads and afterwards in all its runs:
// its files as they are parsed, what they declare, and the session that they compose in. It
// executes nothing; whoever loads a script fills it in.
package script
