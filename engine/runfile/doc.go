// Package runfile is a run as a file: lines of JSON, of which the first says what the run began with, each that follows is
// a step in the order in which they were committed, those after them hold the answers that were sent and not taken, and the last says how the run ended. A [Writer] writes it as the run
// goes, so that the file of a process that was killed can be read up to the line at which it was cut. The row of a step
// is that of a store, [engine.Step]. Files of the form before this one, which held the steps alone, are still read.
package runfile
