// Package temporal runs scripts of agentscript on Temporal: where one machine is not enough, the same script is
// interpreted inside of a workflow, and each effect is an activity of any worker. Positions and ids are those of a run on
// one machine, so that such a run can be forked onto Temporal, and the reverse.
//
// A worker has an engine, which carries effects out as it does locally:
//
//	w, err := temporal.NewWorker(c, engine, temporal.Options{TaskQueue: "agents", Blobs: blob.Dir("/shared/blobs")})
//	err = w.Run(worker.InterruptCh())
//
// A client starts runs, and [NewStore] is the store of all runs on Temporal: what lists, shows, answers, cancels and forks
// kept runs does so with these.
package temporal
