// Package lint checks the functions of a script without running them: it finds calls of nodes, schemas, builtins and
// other functions that cannot work, and the capabilities that they use.
package lint
