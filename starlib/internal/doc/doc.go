// Package doc renders the table of builtins: as the help of a value, the reference in Markdown and the stub for
// editors.
package doc
