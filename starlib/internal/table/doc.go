// Package table has the rows that builtins are: a row's parameters unpack the arguments of a
// call, and are its help, its entry of the reference and its stub.
package table
