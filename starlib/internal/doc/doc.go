// Package doc writes what the table of builtins says: the help of a value, the reference in
// Markdown and the stub for editors.
package doc
