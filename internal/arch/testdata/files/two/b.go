// Package two has another here.
package two
