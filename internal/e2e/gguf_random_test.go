package e2e

import (
	"math"
	"math/rand/v2"
)

// randomGGUF returns a model with random weights, the same for the same seed. Every answer depends on the whole prompt
// and on the seed of the request. It favours letters and digits, and what ends a text, a string or a list, so that
// answers are short.
func randomGGUF(seed uint64) []byte {
	v := newVocabulary()
	v.fill(32)
	s := modelSize{width: 64, heads: 4, inner: 128, layers: 2}
	r := rand.New(rand.NewPCG(seed, 7))
	gaussian := func(n int, deviation float64) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(deviation * r.NormFloat64())
		}
		return out
	}
	n := len(v.tokens)
	const spread, constant = 0.5, 8.0
	w := weights{
		embedding: gaussian(n*s.width, spread), output: gaussian(n*s.width, 0.15), norm: 1,
		inner: func(n int) []float32 { return gaussian(n, 0.02) },
	}
	// The architecture has no bias. Instead, the first number of every embedding is the same, and passes through the
	// blocks nearly unchanged.
	input := constant / math.Sqrt((constant*constant+spread*spread*float64(s.width-1))/float64(s.width))
	for token := range n {
		w.embedding[token*s.width] = constant
		w.output[token*s.width] = float32(liking(v, token) / input)
	}
	return writeGGUF("random", v, s, w)
}

// liking returns the prior of a token before the weights contribute, as a logarithm.
func liking(v *vocabulary, token int) float64 {
	switch {
	case token == v.end:
		return 4
	case token >= bytesOnly:
		return -20
	case token == '"', token == '}', token == ']', token == ',':
		return 4
	case token >= 'a' && token <= 'z', token >= '0' && token <= '9':
		return 2
	case token == ' ':
		return 0
	case token > ' ' && token <= '~':
		return -2
	case token == 0xc3, token == 0xce, token == 0xe3: // they begin letters beyond ASCII
		return 0
	}
	return -8
}
