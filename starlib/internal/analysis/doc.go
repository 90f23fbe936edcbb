// Package analysis reads files that are being edited: they are unsaved and incomplete, and have a cursor. It recovers
// what can be parsed of a broken file, and says what may appear at a place and what a name there means. It executes
// nothing; the values of names come from the caller, which has loaded the recovered file.
package analysis
