package cassette

import (
	"fmt"
	"strconv"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// seedKind is that of the row that holds the seed of a run's random numbers and ids.
const seedKind engine.EffectKind = "seed"

// Seeded writes the seed of a run before its first random number or id, and returns it.
func (r *Recorder) Seeded(seed uint64) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seeds[seed] {
		return seed, r.err
	}
	if r.seeds == nil {
		r.seeds = map[uint64]bool{}
	}
	r.seeds[seed] = true
	text := generable.StrOf(strconv.FormatUint(seed, 10)) // readers of JSON may take a large number for a float
	return seed, r.writeLocked(&entry{Version: version, Kind: seedKind, Key: string(seedKind), Value: valueJSON(text)})
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

func seedOf(row *entry) (*uint64, error) {
	text, _ := row.value.AsStr()
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("its seed is no number: %q", text)
	}
	return &seed, nil
}
