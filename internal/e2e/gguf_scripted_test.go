package e2e

import (
	"fmt"
	"math"
)

// scriptedGGUF returns a model that says one piece after another: after the first of a chain, which is a token such as
// <|call|> that a template puts at the end of the prompt, come its other pieces, and then the end. Each piece is one
// token, however long, so that it arrives as one piece of a stream. A chain whose last piece is one that it has said
// before repeats forever.
//
// The model only sees the last token. So no other piece may occur in two places, and none may be a single byte.
func scriptedGGUF(chains ...[]string) ([]byte, error) {
	v := newVocabulary()
	next := map[int]int{}
	for _, c := range chains {
		if len(c) < 2 || !steers(c[0]) {
			return nil, fmt.Errorf("the chain %q does not lead from a token <|name|> to a piece", c)
		}
		last := v.add(c[0], kindSteer)
		if _, ok := next[last]; ok {
			return nil, fmt.Errorf("two chains begin with %s", c[0])
		}
		said := map[int]bool{}
		for i, piece := range c[1:] {
			token := v.add(shown(piece), kindText)
			_, again := next[token]
			again = again || said[token] || token < bytesOnly || token == last
			if again && !(i == len(c)-2 && said[token]) {
				return nil, fmt.Errorf("the piece %q stands in another place as well, or is a single byte", piece)
			}
			next[last], last, said[token] = token, token, true
		}
		if _, round := next[last]; !round {
			next[last] = v.end
		}
	}
	v.fill(32)
	// Embeddings are the axes and the blocks add nothing, so a row of the output for each axis is the table of what
	// follows its token.
	n := len(v.tokens)
	s := modelSize{width: n, heads: n / 32, inner: 32, layers: 1}
	w := weights{
		embedding: make([]float32, n*n), output: make([]float32, n*n), norm: float32(1 / math.Sqrt(float64(n))),
		inner: func(n int) []float32 { return make([]float32, n) },
	}
	const certain = 40 // a probability of e^-40 is negligible
	for token := range n {
		w.embedding[token*n+token] = 1
		then, ok := next[token]
		for other := range n {
			like := -float32(certain)
			if ok && other == then {
				like = certain
			} else if !ok {
				like = float32(liking(v, other))
			}
			w.output[other*n+token] = like
		}
	}
	return writeGGUF("scripted", v, s, w), nil
}
