// Package linux is of one system.
package linux

const Name = "linux"
