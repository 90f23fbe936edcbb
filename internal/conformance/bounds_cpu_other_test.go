//go:build !linux && !darwin

package conformance

func cpuSeconds() (float64, bool) { return 0, false }
