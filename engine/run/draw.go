package run

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/exec"
)

// UUID returns a new id for a callback on its branch, in the form of a random UUID. Like [Random] and [RandomBelow] it
// follows from the seed of the run and the position, the next one of its word in the callback: nothing is recorded, and
// a replay with the same seed has the same ids and numbers. They must not be used as secrets.
func UUID(b engine.Branch) (string, error) {
	d, err := draw(b, "uuid")
	return d.UUID(), err
}

// Random returns a random number from 0 up to and without 1.
func Random(b engine.Branch) (float64, error) {
	d, err := draw(b, "random")
	return d.Float(), err
}

// RandomBelow returns a random number from 0 up to and without n, which is above 0.
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

// Seed returns what the random numbers and ids of a run follow from.
func Seed(s *Spec) uint64 {
	if s.Prepared != nil && s.Prepared.HasSeed {
		return s.Prepared.Seed
	}
	return SeedOf(s.ID)
}

// SeedOf returns the seed of a run that is known by its id alone: it is the same whenever the run is resumed.
func SeedOf(id string) uint64 { return abi.SeedOf(id) }
