// Package runfile reads and writes a run as a file. The file consists of lines of JSON. The first line holds what the
// run began with. Each line after it is a step, in the order in which the steps were committed. The lines after the
// steps are answers that were sent and not taken, and the last line says how the run ended. A [Writer] writes the
// file while the run proceeds, so that the file of a killed process can be read up to the line at which it was cut.
// The row of a step is that of a store, [engine.Step]. Files of the previous format, which held only the steps, can
// still be read.
package runfile
