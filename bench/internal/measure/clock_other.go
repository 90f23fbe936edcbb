//go:build !linux && !darwin

package measure

import "time"

// Clock describes what [CPU] measures.
const Clock = "time of the wall, for want of CPU time here"

var started = time.Now()

// CPU returns the wall-clock time since the process started, in place of CPU time.
func CPU() time.Duration { return time.Since(started) }
