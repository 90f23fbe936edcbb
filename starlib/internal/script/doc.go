// Package script holds what is known about a script while it loads and afterwards in all its runs: its parsed files,
// what they declare, and the session in which they compose. It executes nothing; the loader fills it in.
package script
