// Package two has one comment here.
package two
