//go:build race

package enginetest

// RaceDetector reports whether the tests were built with the race detector.
const RaceDetector = true
