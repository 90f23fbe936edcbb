// Package lint looks into the functions of a script without running them: calls of nodes,
// schemas, builtins and other functions that cannot work, and what they touch of the world.
package lint
