package abi

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// Draw is the random value of a position in a run. It depends only on the seed of the run and the position, so that
// nothing needs to be recorded and the order of branches does not matter.
type Draw [32]byte

// DrawAt returns the draw of a position, as [engine.Frame.Path] renders it.
func DrawAt(seed uint64, path string) Draw {
	b := binary.BigEndian.AppendUint64([]byte("draw\x00"), seed)
	return Hash(append(b, path...))
}

// UUID returns the draw in the form of a random UUID, of version 4.
func (d Draw) UUID() string {
	u := d
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	b := make([]byte, 0, 36)
	for i, part := range [][]byte{u[0:4], u[4:6], u[6:8], u[8:10], u[10:16]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return string(b)
}

// Float returns the draw as a number in [0, 1).
func (d Draw) Float() float64 {
	return float64(binary.BigEndian.Uint64(d[:8])>>11) / (1 << 53)
}

// Below returns the draw as a number in [0, n); n must be positive. It is the remainder of a number with twice as many
// bits as n, which is almost uniform.
func (d Draw) Below(n uint64) uint64 {
	return bits.Rem64(binary.BigEndian.Uint64(d[:8]), binary.BigEndian.Uint64(d[8:16]), n)
}

// SeedOf returns the seed of a run of which only the id is known.
func SeedOf(id string) uint64 {
	sum := Hash([]byte("seed\x00" + id))
	return binary.BigEndian.Uint64(sum[:8])
}
