//go:build !unix

package sqlite_test

import "time"

// cpu is the time that has passed where the processor's is not known.
func cpu() time.Duration { return time.Duration(time.Now().UnixNano()) }
