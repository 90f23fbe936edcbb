// Package temporal runs scripts of agentscript on Temporal, for when one machine is not enough. The same script is
// interpreted inside a workflow, and each effect is an activity that any worker may carry out. Positions and ids are
// those of a run on one machine, so that a local run can be forked onto Temporal, and the reverse.
//
// A worker has an engine, which carries out effects as it does locally:
//
//	w, err := temporal.NewWorker(c, engine, temporal.Options{TaskQueue: "agents", Blobs: blob.Dir("/shared/blobs")})
//	err = w.Run(worker.InterruptCh())
//
// A client starts runs. [NewStore] returns the store of all runs on Temporal: everything that lists, shows, answers,
// cancels and forks stored runs works with it.
package temporal
