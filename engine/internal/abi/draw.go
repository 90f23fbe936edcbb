package abi

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// Draw is what chance gives a position of a run: it follows from the seed of the run and the position alone, so that
// nothing is recorded of it, and no order of branches changes it.
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

// Float returns the draw as a number from 0 up to and without 1.
func (d Draw) Float() float64 {
	return float64(binary.BigEndian.Uint64(d[:8])>>11) / (1 << 53)
}

// Below returns the draw as a number from 0 up to and without n, which is above 0. Of twice as many bits as n has the
// remainder is as good as evenly spread.
func (d Draw) Below(n uint64) uint64 {
	return bits.Rem64(binary.BigEndian.Uint64(d[:8]), binary.BigEndian.Uint64(d[8:16]), n)
}

// SeedOf returns the seed of a run that is known by its id alone.
func SeedOf(id string) uint64 {
	sum := Hash([]byte("seed\x00" + id))
	return binary.BigEndian.Uint64(sum[:8])
}
