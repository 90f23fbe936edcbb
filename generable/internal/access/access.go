// Package access holds the key to what package generable exposes only to its own packages.
package access

// Key is the argument of generable.Internal. Hosts cannot name it.
type Key struct{}
