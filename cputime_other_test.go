//go:build !linux

package agentscript_test

import "time"

var begun = time.Now()

// threadTime is the time on the wall, where a thread's own is not told.
func threadTime() time.Duration { return time.Since(begun) }
