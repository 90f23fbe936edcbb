//go:build !linux

package agentscript_test

import "time"

var begun = time.Now()

// threadTime is the wall time, on systems where a thread's CPU time is not available.
func threadTime() time.Duration { return time.Since(begun) }
