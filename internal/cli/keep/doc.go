// Package keep keeps the runs of the command line in a store. It determines where the store is, what is stored about
// how a run was called, and how a run that ended can be continued.
package keep
