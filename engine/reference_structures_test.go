package engine_test

import "fmt"

// forum runs the participants in rounds, and then the captain or what comes of their agreement.
func (r *naive) forum(p *program, at string, x int64) (int64, *failure) {
	words := heads(p.kids)
	agree := p.op == "consensus"
	if agree { // each behind a step that leaves few answers
		for i := range words {
			words[i] = [2]string{"then", ""}
		}
	}
	if !agree || p.policy == drops {
		words = append(words, [2]string{"agent", "captain"})
	}
	segs := segments(words...)
	var said, last []int64
	for round := range p.m {
		out, err := r.atOnce(len(p.kids), raises, fmt.Sprintf("%s/round%d", at, round), func(i int, at string) (int64, *failure) {
			own := at + "/" + segs[i]
			if !agree {
				return r.run(p.kids[i], own, x)
			}
			r.begin(own)
			y, err := r.run(p.kids[i], own+"/"+below(p.kids[i : i+1])[0], x)
			if err != nil {
				return 0, err
			}
			r.begin(own + "/fn:rest#0")
			return y % 2, nil
		})
		if err != nil {
			return 0, err
		}
		said, last = append(said, out...), out
	}
	if agree {
		votes, won := map[int64]int{}, last[0]
		for _, y := range last {
			votes[y]++
		}
		for _, y := range last {
			if votes[y] > votes[won] {
				won = y
			}
		}
		switch {
		case votes[won] >= p.way%len(p.kids)+1:
			return won, nil
		case p.policy != drops:
			return 0, &failure{at, "quorum"}
		}
	}
	r.begin(at + "/" + segs[len(segs)-1])
	return fold(append([]int64{x}, said...)), nil
}

// graph follows the first arrow that takes what its node gave.
func (r *naive) graph(p *program, at string, x int64) (int64, *failure) {
	words := heads(p.kids)
	for _, e := range p.edges {
		if e.mapped != nil {
			words = append(words, e.mapped.head())
		}
	}
	segs := segments(words...)
	k := 0
	for turn := range p.m {
		here := fmt.Sprintf("%s[%d]", at, turn)
		y, err := r.run(p.kids[k], here+"/"+segs[k], x)
		if err != nil {
			return 0, err
		}
		next, maps := -2, len(p.kids)
		for _, e := range p.edges {
			takes := e.from == k && (e.way == 0 || e.way == 1 && y >= e.k || e.way == 2 && y%3 == e.k)
			if takes {
				if e.mapped != nil {
					if y, err = r.run(e.mapped, here+"/"+segs[maps], y); err != nil {
						return 0, err
					}
				}
				next = e.to
				break
			}
			if e.mapped != nil {
				maps++
			}
		}
		switch {
		case next == -1 || next == -2 && p.policy == keeps:
			return y, nil
		case next == -2 && p.policy == raises:
			return 0, &failure{here, "route"}
		case next == -2:
			next = len(p.kids) - 1
		}
		k, x = next, y
	}
	return 0, &failure{at, "limit"}
}

// vote counts what the voters gave.
func (r *naive) vote(p *program, at string, x int64) (int64, *failure) {
	quorum := 0
	policy := raises
	if p.policy == keeps {
		quorum, policy = 1, drops
	}
	par := r.begin(at + "/par0")
	out, err := r.atOnce(len(p.kids), policy, par, func(i int, at string) (int64, *failure) {
		return r.run(p.kids[i], at+"/"+below(p.kids)[i], x)
	})
	switch {
	case err != nil:
		return 0, err
	case len(out) < quorum:
		return 0, &failure{at, "quorum"}
	}
	switch p.way {
	case 0: // most of a remainder
		votes := map[int64]int{}
		for _, y := range out {
			votes[y%3]++
		}
		won := out[0]
		for _, y := range out {
			if votes[y%3] > votes[won%3] {
				won = y
			}
		}
		return won, nil
	case 1:
		won := out[0]
		for _, y := range out {
			won = max(won, y)
		}
		return won, nil
	case 2:
		r.begin(at + "/fn:judge#0")
		return fold(out), nil
	}
	// the heaviest, of equals the first: where none may fail each weighs its number
	weights := map[int64]int{}
	for i, y := range out {
		if quorum > 0 {
			i = 1
		}
		weights[y] += i
	}
	won := out[0]
	for _, y := range out {
		if weights[y] > weights[won] {
			won = y
		}
	}
	return won, nil
}
