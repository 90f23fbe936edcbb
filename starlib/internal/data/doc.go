// Package data has the builtins of types, values, texts and files, and of what a script may
// touch of the world.
package data
