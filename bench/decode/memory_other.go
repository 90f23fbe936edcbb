//go:build !linux && !darwin

package main

func limitMemory(uint64) error { return nil }
