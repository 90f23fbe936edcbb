//go:build !race

package testenv

// RaceDetector reports whether the race detector is on: everything is slower and needs more memory.
const RaceDetector = false
