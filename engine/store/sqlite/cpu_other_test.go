//go:build !unix

package sqlite_test

import "time"

// cpu returns the elapsed time, on systems where the processor time is not available.
func cpu() time.Duration { return time.Duration(time.Now().UnixNano()) }
