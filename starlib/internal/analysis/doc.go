// Package analysis reads files that are being written: unsaved, half-typed, with a cursor in them. It recovers what
// can be read of a broken file, and says what can stand at a place and what stands there. It executes nothing; what
// names hold is given to it by whoever loaded the recovered file.
package analysis
