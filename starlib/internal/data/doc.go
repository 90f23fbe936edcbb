// Package data has the builtins for types, values, texts and files, and for the capabilities that a script may use.
package data
