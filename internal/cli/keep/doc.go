// Package keep keeps the runs of the command line in a store: where that is, what is kept of how a run was called, and
// how a run that ended goes on.
package keep
