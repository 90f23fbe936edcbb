// Package table has the rows of the builtins. A row's parameters unpack the arguments of a call, and are the source of
// its help, its entry in the reference and its stub.
package table
