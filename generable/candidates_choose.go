package generable

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// attemptAt is one candidate decoded.
type attemptAt struct {
	candidate
	v       Value
	ok      bool
	cost    int // in all
	coerced int // of the coercions alone
	repairs []Repair
	errs    FieldErrors
}

// choose decodes the candidates and takes the one that serves best.
func (m *Machine) choose() Result {
	s := m.scan
	c := m.coercer(s)
	var best *attemptAt
	fits, second := 0, 0   // how many candidates fit, and where the second of them stands
	covered := 0           // end of the last list of neighbouring candidates that fits
	var single []candidate // objects that fit where a list is wanted
	collects := m.typ.Deref().Kind == ListType && m.o.Pick == PickBest && m.o.Level != Strict
	consider := func(cand candidate) bool {
		if m.o.Pick != PickBest && cand.items == 0 && cand.start < covered {
			return false // it is an item of that list
		}
		a := m.attempt(c, cand)
		if a.ok {
			if fits++; fits == 2 {
				second = cand.start
			}
			switch {
			case cand.items > 0:
				covered = cand.end
			case !collects || a.tooDeep:
			case c.tape[cand.node].kind == nodeObj:
				single = append(single, cand)
			case c.tape[cand.node].count > 0:
				collects = false // there is a list
			}
		}
		if best == nil || m.prefers(a, best) {
			best = a
		}
		return a.ok
	}
	switch whole, kind := m.whole(c); {
	case kind == wholeText:
		consider(whole)
	case m.unescaped(c, consider):
	default:
		list := answers(s)
		if len(list) == 0 {
			if m.inFence(c, consider); best != nil && best.ok {
				break
			}
		}
		if (len(list) == 0 || m.beginsInside(list) || m.valuesOnLines(list)) && m.bracketed(c, consider) {
			break
		}
		runs := 0
		for i := 0; i < len(list); i++ {
			if run := m.run(c, list, i); run.items > 0 {
				consider(run)
				runs++
			}
			consider(list[i])
		}
		if runs == 0 {
			if all := m.several(c, list); all.items > 0 {
				consider(all)
			}
		}
		if collects && len(single) > 1 {
			if all := m.collected(c, single); all.items > 0 {
				consider(all)
			}
		}
		if len(list) > 0 && (best == nil || !best.ok) {
			m.inFence(c, consider)
		}
		if kind == wholeScalar && (best == nil || !best.ok) {
			consider(whole)
		}
	}
	s.tape = c.tape
	r := m.outcome(best)
	if best != nil && !best.ok && !best.tooDeep {
		r.Partial = c.salvage(best.node, m.typ)
	}
	r.Visits = s.visits() + c.visits
	if m.o.Pick == PickError && fits > 1 {
		r.OK, r.Value = false, Value{}
		r.Errors = append(r.Errors, &FieldError{
			Expected: "one value", Got: text.Count(fits, "value") + " that fit", Offset: second,
			Hint: "answer with a single value",
		})
	}
	locate(m.src, r.Errors)
	return r
}

// attempt decodes one candidate.
func (m *Machine) attempt(c *coercer, cand candidate) *attemptAt {
	a := &attemptAt{candidate: cand, cost: cand.cost}
	a.bare = cand.bare && !m.ownLine(cand)
	c.repairs, c.errs, c.more, c.cost, c.score = nil, nil, 0, 0, 0
	clear(c.memo)
	switch {
	case cand.tooDeep:
		limit := m.scan.maxDepth
		c.errs = FieldErrors{{Expected: "at most " + text.Count(limit, "level") + " of nesting", Got: "more", Offset: cand.deepAt, Hint: "answer with a flatter value"}}
	case cand.broken && m.o.Level == Strict:
		m.scan.tape = c.tape // the candidate may be a node that was added to it
		c.errs = m.syntaxErrors(cand)
	default:
		a.v, a.ok = c.decode(cand.node, m.typ)
	}
	a.cost += c.cost
	a.coerced = c.cost
	a.repairs, a.errs = c.repairs, c.errs
	if a.ok && m.o.MaxCost > 0 && a.cost > m.o.MaxCost {
		a.ok = false
		a.errs = append(a.errs, &FieldError{Expected: "repairs that cost at most " + strconv.Itoa(m.o.MaxCost), Got: "cost " + strconv.Itoa(a.cost), Offset: cand.start, Hint: "answer with valid JSON"})
	}
	if c.more > 0 {
		a.errs = append(a.errs, &FieldError{Expected: "a value without errors", Got: strconv.Itoa(c.more) + " errors more", Offset: cand.start})
	}
	return a
}

// prefers reports whether a, which stands behind b in the text, is the better choice.
func (m *Machine) prefers(a, b *attemptAt) bool {
	if a.ok != b.ok {
		return a.ok
	}
	if !a.ok {
		if (len(a.errs) < len(b.errs)) != (len(b.errs) < len(a.errs)) {
			return len(a.errs) < len(b.errs)
		}
		return a.end-a.start >= b.end-b.start
	}
	switch m.o.Pick {
	case PickFirst:
		return false
	case PickLast:
		return true
	}
	ca, cb := m.weight(a), m.weight(b)
	if ca != cb {
		return ca < cb
	}
	if (a.fence >= 0) != (b.fence >= 0) {
		return a.fence >= 0
	}
	return true
}

// maxCitation bounds brackets in a sentence that are rather no value.
const maxCitation = 8

// weight is the cost that candidates are compared by. Brackets in the middle of a sentence
// are often no value at all: [1] is a citation. What stands in a program is rather an example.
func (m *Machine) weight(a *attemptAt) int {
	if a.items > 0 { // it explains more of the text than each of its items
		return a.coerced*4 - 1
	}
	w := a.cost * 4
	if a.bare && a.end-a.start < maxCitation {
		w += 1 << 10
	}
	if a.fence >= 0 && isProgram(m.scan.fences[a.fence].tag) {
		w += 1 << 9
	}
	return w
}

// ownLine reports whether a candidate stands on lines of its own.
func (m *Machine) ownLine(cand candidate) bool {
	before := strings.TrimRight(m.src[max(0, cand.start-maxGap):cand.start], " \t")
	after := strings.TrimLeft(m.src[cand.end:min(len(m.src), cand.end+maxGap)], " \t\r")
	return strings.HasSuffix(before, "\n") && (after == "" || after[0] == '\n')
}

// outcome turns the attempt that was chosen into a result.
func (m *Machine) outcome(a *attemptAt) Result {
	if a == nil {
		return Result{Errors: FieldErrors{{Expected: m.expects(), Got: m.gotText(), Offset: 0}}}
	}
	r := Result{Value: a.v, OK: a.ok, Cost: a.cost, Errors: a.errs}
	if !a.ok {
		r.Value = Value{}
	}
	list := m.scan.repairs[a.candidate.repairs:a.repairsEnd]
	r.Repairs = m.surroundings(a, len(list)+len(a.repairs))
	if a.items > 0 {
		r.Repairs = append(r.Repairs, Repair{Kind: repSequence.String(), Offset: a.start, After: text.Count(a.items, "item"), Cost: repairInfo[repSequence].cost})
	}
	r.Repairs = m.appendSyntax(r.Repairs, a.candidate, list)
	r.Repairs = append(r.Repairs, a.repairs...)
	if len(list) >= maxRepairs || len(a.repairs) >= maxRepairs {
		r.tellRest()
	}
	return r
}

// tellRest adds a record with the cost of the repairs that have none of their own, since there
// are so many.
func (r *Result) tellRest() {
	rest := r.Cost
	for i := range r.Repairs {
		rest -= r.Repairs[i].Cost
	}
	if rest > 0 {
		last := &r.Repairs[len(r.Repairs)-1]
		r.Repairs = append(r.Repairs, Repair{Kind: repMore.String(), Offset: last.Offset, Cost: rest})
	}
}

// expects says what the text should have held.
func (m *Machine) expects() string {
	t := m.typ.Deref()
	if t.Kind == AnyType {
		return "a JSON value"
	}
	want, _ := in.Wanted(t)
	return want + " as JSON"
}

func (m *Machine) gotText() string {
	if t := trimBOM(m.src); t != "" {
		return "text without JSON: " + quoteShort(text.Cut(t, 2*maxShown))
	}
	return "an empty text"
}

// surroundings records what stood around the chosen candidate, and leaves room for more records.
func (m *Machine) surroundings(a *attemptAt, more int) []Repair {
	var out []Repair
	if more > 0 {
		out = make([]Repair, 0, more+4)
	}
	s := m.scan
	if m.besideReasoning(a) {
		at := 0
		if len(s.thinks) > 0 {
			at = s.thinks[0].start
		}
		out = append(out, Repair{Kind: repReasoning.String(), Offset: at})
	}
	from, to := a.start, a.end
	if a.fence >= 0 {
		f := s.fences[a.fence]
		out = append(out, Repair{Kind: repFence.String(), Offset: f.start, Before: shorten(f.tag)})
		from = f.start
		if f.end >= 0 {
			to = f.end + f.n
		}
	}
	if before := strings.TrimLeft(m.src[:from], "\ufeff \t\r\n"); before != "" && !m.inThink(from) {
		out = append(out, Repair{Kind: repProse.String(), Before: shorten(before)})
	}
	if after := strings.TrimSpace(text.Cut(m.src[min(to, len(m.src)):], 2*maxShown)); after != "" {
		out = append(out, Repair{Kind: repProse.String(), Offset: to, Before: shorten(after)})
	}
	return out
}

// besideReasoning reports whether the text holds reasoning, other than as a part of the
// candidate.
func (m *Machine) besideReasoning(a *attemptAt) bool {
	th := m.scan.thinks
	return a.think || len(th) > 0 && (th[0].end <= a.start || th[len(th)-1].end > a.end)
}

// inThink reports whether all of the text before offset to is one reasoning region.
func (m *Machine) inThink(to int) bool {
	th := m.scan.thinks
	return len(th) > 0 && (len(th) == 1 || th[1].start >= to) && strings.TrimSpace(m.src[:th[0].start]) == "" && strings.TrimSpace(m.src[th[0].end:max(to, th[0].end)]) == ""
}
