// Package darwin is of one system.
package darwin

const Name = "darwin"
