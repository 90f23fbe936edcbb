package cassette

import "github.com/agentscript/agentscript/engine"

// Seeded has the seed of a run be in its record before its first random number or id, and returns it.
func (r *Recorder) Seeded(seed uint64) (uint64, error) {
	r.mu.Lock()
	if r.head.Seed != seed {
		r.head.Seed, r.begun = seed, false
	}
	r.mu.Unlock()
	return seed, r.write(nil)
}

// Timed returns a handler of the time with the recorder around it.
func (r *Recorder) Timed(h engine.Handler) engine.Handler { return &around{r, h} }

// Timed returns what answers in the place of a handler of the time.
func (r *Replayer) Timed(engine.Handler) engine.Handler { return r }

// Seeded returns the recorded seed, or the given one when none was recorded.
func (r *Replayer) Seeded(seed uint64) (uint64, error) {
	if r.seed != nil {
		return *r.seed, nil
	}
	return seed, nil
}
