package cassette

import "github.com/agentscript/agentscript/engine"

// Seeded makes sure that the record holds the seed of a run before the run's first random number or id, and returns
// the seed.
func (r *Recorder) Seeded(seed uint64) (uint64, error) {
	r.mu.Lock()
	if r.head.Seed != seed {
		r.head.Seed, r.begun = seed, false
	}
	r.mu.Unlock()
	return seed, r.write(nil)
}

// Timed returns the handler of the time, wrapped by the recorder.
func (r *Recorder) Timed(h engine.Handler) engine.Handler { return &around{r, h} }

// Timed returns the handler that replaces the handler of the time.
func (r *Replayer) Timed(engine.Handler) engine.Handler { return r }

// Seeded returns the recorded seed, or the given one if none was recorded.
func (r *Replayer) Seeded(seed uint64) (uint64, error) {
	if r.seed != nil {
		return *r.seed, nil
	}
	return seed, nil
}
