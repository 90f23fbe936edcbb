package interp_test

import "fmt"

// naive runs a program one step after the other and records where models are called. If concurrent branches fail and
// end each other, it is chance what the others had done by then.
type naive struct {
	effects []string
	nodes   []string
	ended   bool // a failing branch ended others
	raced   bool // a winner ended others, which have no effects
}

// failure is the place and cause of a program's failure.
type failure struct{ path, why string }

// segments returns the position segments of siblings: word, name, and an ordinal for each pair.
func segments(words ...[2]string) []string {
	seen := map[[2]string]int{}
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w[0]; w[1] != "" {
			out[i] += ":" + w[1] + "#"
		}
		out[i] += fmt.Sprint(seen[w])
		seen[w]++
	}
	return out
}

// head returns the outermost node that a program becomes.
func (p *program) head() [2]string {
	switch p.op {
	case "each", "attempt", "verify": // between steps that convert to numbers
		return [2]string{"then", ""}
	case "run", "model", "judge":
		return [2]string{"agent", p.name}
	case "until":
		return [2]string{"loop", p.name}
	case "consensus":
		return [2]string{"forum", p.name}
	case "calls":
		return [2]string{"fn", p.name}
	}
	return [2]string{p.op, p.name}
}

func heads(kids []*program) (words [][2]string) {
	for _, k := range kids {
		words = append(words, k.head())
	}
	return words
}

func below(kids []*program) []string { return segments(heads(kids)...) }

// begin records that a node runs.
func (r *naive) begin(path string) string { r.nodes = append(r.nodes, path); return path }

func fold(xs []int64) int64 {
	sum := int64(len(xs))
	for _, x := range xs {
		sum = wrap(31*sum + x)
	}
	return sum
}

// Run runs p at its own position.
func (r *naive) run(p *program, at string, x int64) (int64, *failure) {
	r.begin(at)
	kid := func(i int, under string, x int64) (int64, *failure) {
		return r.run(p.kids[i], under+"/"+below(p.kids)[i], x)
	}
	switch p.op {
	case "model", "fn", "run":
		if p.op == "model" {
			r.effects = append(r.effects, at+"/llm0")
		}
		if p.fails && x%4 == 0 {
			return 0, &failure{at, "planned"}
		}
		return wrap(3*x + p.k), nil
	case "then":
		var err *failure
		for i := range p.kids {
			if x, err = kid(i, at, x); err != nil {
				return 0, err
			}
		}
		return x, nil
	case "calls":
		n := map[[2]string]int{}
		for range 2 {
			for _, k := range p.kids {
				h := k.head()
				seg := h[0]
				if h[1] != "" {
					seg += ":" + h[1] + "#"
				}
				y, err := r.run(k, at+"/"+seg+fmt.Sprint(n[h]), x)
				if err != nil {
					return 0, err
				}
				n[h]++
				x = y
			}
		}
		return x, nil
	case "par":
		out, err := r.atOnce(len(p.kids), p.policy, at, func(i int, at string) (int64, *failure) { return kid(i, at, x) })
		if err != nil {
			return 0, err
		}
		words := append(heads(p.kids), [2]string{"fn", ""})
		r.begin(at + "/" + segments(words...)[len(p.kids)])
		return fold(out), nil
	case "each":
		r.begin(at + "/fn:split#0")
		each := r.begin(at + "/" + segments([2]string{"each", p.name})[0])
		out, err := r.atOnce(int(p.m-1), p.policy, each, func(i int, at string) (int64, *failure) { return kid(0, at, wrap(x+int64(i))) })
		if err != nil {
			return 0, err
		}
		r.begin(at + "/fn:fold#0")
		return fold(out), nil
	case "loop":
		for turn := int64(0); ; turn++ {
			if turn == p.m {
				return 0, &failure{at, "limit"}
			}
			y, err := kid(0, fmt.Sprintf("%s[%d]", at, turn), x)
			if err != nil || y%(p.m+1) == 0 || turn+1 == p.m && p.way%2 == 0 {
				return y, err
			}
			x = wrap(y + 1)
		}
	case "until":
		for turn := int64(0); ; turn++ {
			here := fmt.Sprintf("%s[%d]", at, turn)
			y, err := kid(0, here, x)
			switch {
			case err != nil || y%3 == 0:
				return y, err
			case turn+1 < p.m:
			case p.way%2 == 0:
				return y, nil
			default:
				return 0, &failure{at, "limit"}
			}
			if x, err = kid(1, here, y); err != nil {
				return 0, err
			}
		}
	case "branch", "handoff":
		segs := segments(append([][2]string{{"fn", ""}}, heads(p.kids)...)...)
		r.begin(at + "/" + segs[0])
		i := 1
		if p.way%2 == 0 && x >= p.k*10_000 || p.way%2 == 1 && x%3 == 0 {
			i = 0
		}
		return r.run(p.kids[i], at+"/"+segs[i+1], x)
	case "forum", "consensus":
		return r.forum(p, at, x)
	case "graph":
		return r.graph(p, at, x)
	case "fallback":
		for i := range p.kids {
			y, err := kid(i, at, x)
			if err == nil || i == len(p.kids)-1 {
				return y, err
			}
		}
	case "race":
		r.raced = true
		segs := segments(racers(p)...)
		won := p.way % 3
		y, err := r.run(p.kids[won], fmt.Sprintf("%s[%d]/%s", at, won, segs[won]), x)
		if err != nil && won > 0 {
			return 0, &failure{at + "[0]/" + segs[0], "planned"}
		}
		return y, err
	case "retry":
		for turn := int64(0); ; turn++ {
			y, err := kid(0, fmt.Sprintf("%s[%d]", at, turn), x)
			switch {
			case err == nil && y%2 == 1:
				return y, nil
			case turn+1 < p.m:
			case err != nil:
				return 0, err
			case p.way%2 == 0:
				return y, nil
			default:
				return 0, &failure{at, "limit"}
			}
		}
	case "attempt":
		tried := r.begin(at + "/" + segments([2]string{"attempt", p.name})[0])
		y, err := kid(0, tried, x)
		if err != nil {
			y = lost
		}
		r.begin(at + "/fn0")
		return y, nil
	case "vote":
		return r.vote(p, at, x)
	case "wrap":
		teacher := r.begin(at + "/then0")
		y, err := kid(0, teacher, x)
		if err != nil {
			return 0, err
		}
		r.begin(teacher + "/fn:tells#0")
		r.effects = append(r.effects, r.begin(at+"/agent:student#0")+"/llm0")
		return wrap(3*x + y%97), nil
	case "verify":
		judge := r.begin(r.begin(at+"/verify0") + "/agent:judge#0")
		r.effects = append(r.effects, judge+"/llm0")
		r.begin(at + "/fn0")
		if x%p.kids[0].k == 0 {
			return x, nil
		}
		return wrap(x + 1), nil
	}
	panic("no rule for " + p.op)
}

// racers are the branches of a race: one may win, the others fail.
func racers(p *program) [][2]string {
	words := [][2]string{{"fn", ""}, {"fn", ""}, {"fn", ""}}
	words[p.way%3] = p.kids[p.way%3].head()
	return words
}

// atOnce runs branches and handles their failures by the policy.
func (r *naive) atOnce(n, policy int, at string, run func(i int, at string) (int64, *failure)) ([]int64, *failure) {
	out := []int64{}
	var first *failure
	for i := range n {
		y, err := run(i, fmt.Sprintf("%s[%d]", at, i))
		switch {
		case err == nil:
			out = append(out, y)
		case policy == keeps:
			out = append(out, lost)
		case policy == raises && first == nil:
			first = err
			r.ended = r.ended || n > 1
		}
	}
	return out, first
}

// forum runs the participants in rounds, and then the captain or the count of agreeing answers.
func (r *naive) forum(p *program, at string, x int64) (int64, *failure) {
	words := heads(p.kids)
	agree := p.op == "consensus"
	if agree { // each behind a step that leaves few possible answers
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

// graph follows the first arrow that takes the node's output.
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

// vote counts the voters' outputs.
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
	case 0: // the most common remainder
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
