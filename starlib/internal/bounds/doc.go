// Package bounds adds limits to operations of the interpreter: an operation whose result would exceed the
// value limit fails before it allocates the result. The interpreter is not modified. While the syntax tree is
// compiled, operands that may be texts, lists or large numbers are wrapped in guards; numbers known to be
// small are left alone.
package bounds
