package run

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/exec"
)

// UUID returns a new id in the form of a random UUID, for a callback on its branch. Like the results of [Random] and
// [RandomBelow], it follows from the seed of the run and the position, which is the next one for its word in the
// callback. Nothing is recorded; a replay with the same seed gets the same ids and numbers. They must not be used as
// secrets.
func UUID(b engine.Branch) (string, error) {
	d, err := draw(b, "uuid")
	return d.UUID(), err
}

// Random returns a random number that is at least 0 and less than 1.
func Random(b engine.Branch) (float64, error) {
	d, err := draw(b, "random")
	return d.Float(), err
}

// RandomBelow returns a random number that is at least 0 and less than n. n must be positive.
func RandomBelow(b engine.Branch, n int64) (int64, error) {
	d, err := draw(b, "random")
	return int64(d.Below(uint64(max(n, 1)))), err
}

func draw(b engine.Branch, word string) (abi.Draw, error) {
	own := b.(*exec.Branch)
	if err := own.Sched.Err(); err != nil {
		return abi.Draw{}, own.Locate(err, nil)
	}
	seed := Seed(own.Run.Spec)
	if by := own.Run.Spec.Prepared; by != nil && by.SeedKept != nil {
		var err error
		if seed, err = by.SeedKept(seed); err != nil {
			return abi.Draw{}, own.Locate(err, nil)
		}
	}
	return abi.DrawAt(seed, nextPlace(own, word).Path()), nil
}

// Seed returns the seed from which the random numbers and ids of a run follow.
func Seed(s *Spec) uint64 {
	if s.Prepared != nil && s.Prepared.HasSeed {
		return s.Prepared.Seed
	}
	return SeedOf(s.ID)
}

// SeedOf returns the seed of a run of which only the id is known. It is the same each time the run is resumed.
func SeedOf(id string) uint64 { return abi.SeedOf(id) }
