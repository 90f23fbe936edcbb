//go:build !linux && !darwin

package main

import "time"

const clock = "time of the wall, for want of CPU time here"

var started = time.Now()

func cpu() time.Duration { return time.Since(started) }

func limitMemory(uint64) error { return nil }
