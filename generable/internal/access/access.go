// Package access holds the key to what generable shows to its own packages alone.
package access

// Key is the argument of generable.Internal. Hosts cannot name it.
type Key struct{}
