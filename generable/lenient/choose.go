package lenient

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

// attemptAt is the result of decoding one candidate.
type attemptAt struct {
	tape.Candidate
	v       generable.Value
	ok      bool
	cost    int // total cost
	coerced int // cost of the coercions alone, as far as they count against the candidate
	closers int // bytes after it up to the last closer there
	repairs []generable.Repair
	errs    generable.FieldErrors
}

// choose decodes the candidates and takes the best one.
func (m *Machine) choose() Result {
	s := m.scan
	c := m.coercer(s)
	var best *attemptAt
	fits, second := 0, 0        // how many candidates fit, and the start of the second one
	covered := 0                // end of the last list of neighbouring candidates that fits
	neighbours := 0             // number of candidates in it
	var single []tape.Candidate // objects that fit where a list is wanted
	collects := m.typ.Deref().Kind == generable.ListType && m.o.Pick == generable.PickBest && m.o.Level != generable.Strict
	consider := func(cand tape.Candidate) bool {
		if m.o.Pick != generable.PickBest && cand.Items == 0 && cand.Start < covered {
			return false // an item of that list
		}
		a := m.attempt(c, cand)
		if a.ok {
			if fits++; fits == 2 {
				second = cand.Start
			}
			switch {
			case cand.Items > 0:
				covered, neighbours = cand.End, int(cand.Items)
			case !collects || a.TooDeep:
			case c.Tape[cand.Node].Kind == tape.NodeObj:
				single = append(single, cand)
			case c.Tape[cand.Node].Count > 0:
				collects = false // the text has a list
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
			m.inFence(c, consider)
		}
		if (len(list) == 0 || m.beginsInside(list) || m.valuesOnLines(list)) && m.bracketed(c, consider) {
			break
		}
		runs := 0
		for i := 0; i < len(list); i++ {
			if run := m.run(c, list, i); run.Items > 0 {
				consider(run)
				runs++
			}
			consider(list[i])
		}
		if runs == 0 {
			if all := m.several(c, list); all.Items > 0 {
				consider(all)
			}
		}
		if collects && len(single) > max(neighbours, 1) { // more objects than in that list
			if all := m.collected(c, single); all.Items > 0 {
				consider(all)
			}
		}
		if len(list) > 0 && (best == nil || !best.ok || isCitation(&best.Candidate)) {
			m.inFence(c, consider)
		}
		if kind == wholeScalar && (best == nil || !best.ok) {
			consider(whole)
		}
	}
	s.Tape = c.Tape
	r := m.outcome(best)
	if best != nil && !best.ok && !best.TooDeep {
		r.Partial = m.salvage(c, best.Node)
	}
	r.Visits = c.Visits
	if m.o.Pick == generable.PickError && fits > 1 {
		r.OK, r.Value = false, generable.Value{}
		r.Errors = append(r.Errors, &generable.FieldError{
			Expected: "one value", Got: text.Count(fits, "value") + " that fit", Offset: second,
			Hint: "answer with a single value",
		})
	}
	locate(m.src, r.Errors)
	return r
}

// attempt decodes one candidate.
func (m *Machine) attempt(c *coerce.Coercer, cand tape.Candidate) *attemptAt {
	a := &attemptAt{Candidate: cand, cost: cand.Cost}
	a.Bare = cand.Bare && !m.ownLine(cand)
	c.Repairs, c.Errs, c.More, c.Cost, c.Score = nil, nil, 0, 0, 0
	clear(c.Memo)
	switch {
	case cand.TooDeep:
		limit := m.scan.MaxDepth
		c.Errs = generable.FieldErrors{{Expected: "at most " + text.Count(limit, "level") + " of nesting", Got: "more", Offset: int(cand.DeepAt), Hint: "answer with a flatter value"}}
	case cand.Broken && m.o.Level == generable.Strict:
		m.scan.Tape = c.Tape // the candidate may be a node that was added to it
		c.Errs = m.syntaxErrors(cand)
	default:
		a.v, a.ok = c.Decode(cand.Node, m.typ)
	}
	if m.o.Level == generable.Strict {
		for _, r := range c.Repairs { // those of the text of strings
			if r.Kind == tape.RepEscape.String() || r.Kind == tape.RepUTF8.String() {
				a.ok = false
				c.Errs = append(c.Errs, &generable.FieldError{Path: r.Path, Expected: "a string of JSON", Got: strings.ReplaceAll(r.Kind, "-", " ") + " in `" + r.Before + "`", Offset: r.Offset, Hint: "answer with valid JSON"})
			}
		}
	}
	if a.closers = m.closersBehind(cand); a.closers > 0 && m.o.Level != generable.Strict {
		a.cost += tape.RepairInfo[tape.RepExtraCloser].Cost
	}
	a.cost += c.Cost
	if a.coerced = c.Cost; cand.Items > 0 && c.Tape[cand.Node+1].Kind == tape.NodeObj {
		a.coerced = 0
	}
	a.repairs, a.errs = c.Repairs, c.Errs
	if a.ok && m.o.MaxCost > 0 && a.cost > m.o.MaxCost {
		a.ok = false
		a.errs = append(a.errs, &generable.FieldError{Expected: "repairs that cost at most " + strconv.Itoa(m.o.MaxCost), Got: "cost " + strconv.Itoa(a.cost), Offset: cand.Start, Hint: "answer with valid JSON"})
	}
	if c.More > 0 {
		a.errs = append(a.errs, &generable.FieldError{Expected: "a value without errors", Got: strconv.Itoa(c.More) + " errors more", Offset: cand.Start})
	}
	return a
}

// closersBehind returns the length of the blanks and closers directly after a candidate.
func (m *Machine) closersBehind(cand tape.Candidate) int {
	rest := m.src[cand.End:]
	behind := strings.TrimLeft(rest, "}]"+jsonBlanks)
	return len(strings.TrimRight(rest[:len(rest)-len(behind)], jsonBlanks))
}

// prefers reports whether a, which follows b in the text, is the better choice.
func (m *Machine) prefers(a, b *attemptAt) bool {
	if a.ok != b.ok {
		return a.ok
	}
	if !a.ok {
		if (len(a.errs) < len(b.errs)) != (len(b.errs) < len(a.errs)) {
			return len(a.errs) < len(b.errs)
		}
		return a.End-a.Start >= b.End-b.Start
	}
	switch m.o.Pick {
	case generable.PickFirst:
		return false
	case generable.PickLast:
		return true
	}
	ca, cb := m.weight(a), m.weight(b)
	if ca != cb {
		return ca < cb
	}
	if (a.Fence >= 0) != (b.Fence >= 0) {
		return a.Fence >= 0
	}
	return true
}

// maxCitation is the length below which brackets in a sentence are more likely a citation than a value.
const maxCitation = 8

func isCitation(k *tape.Candidate) bool { return k.Bare && k.End-k.Start < maxCitation }

// weight returns the cost by which candidates are compared. Brackets in the middle of a sentence are often not a
// value: [1] is a citation. A value in a program is more likely an example.
func (m *Machine) weight(a *attemptAt) int {
	if a.Items > 0 { // it explains more of the text than each of its items, whose coercions it sums up
		if m.typ.Deref().Kind == generable.AnyType {
			return -1
		}
		return a.coerced*4/int(a.Items) - 1
	}
	w := a.cost * 4
	if isCitation(&a.Candidate) {
		w += 1 << 10
	}
	if a.Fence >= 0 && isProgram(m.scan.Fences[a.Fence].Tag) {
		w += 1 << 9
	}
	return w
}

// ownLine reports whether a candidate is on its own lines.
func (m *Machine) ownLine(cand tape.Candidate) bool {
	before := strings.TrimRight(m.src[max(0, cand.Start-tape.MaxGap):cand.Start], " \t")
	after := strings.TrimLeft(m.src[cand.End:min(len(m.src), cand.End+tape.MaxGap)], " \t\r")
	return strings.HasSuffix(before, "\n") && (after == "" || after[0] == '\n')
}

// outcome turns the chosen attempt into a result.
func (m *Machine) outcome(a *attemptAt) Result {
	if a == nil {
		return Result{Errors: generable.FieldErrors{{Expected: m.expects(), Got: m.gotText(), Offset: 0}}}
	}
	r := Result{Value: a.v, OK: a.ok, Cost: a.cost, Errors: a.errs, Start: a.Start, End: a.End}
	if !a.ok {
		r.Value = generable.Value{}
	}
	list := m.scan.Repairs[a.Candidate.Repairs:a.RepairsEnd]
	rest, at := "", a.End
	if a.Start > 0 || a.End < len(m.src) {
		if rest = m.dropped(a); rest == "" && m.o.Level == generable.Strict {
			rest, at = m.besides(a)
		}
		r.Repairs = m.surroundings(a, rest, len(list)+len(a.repairs))
	}
	if a.Items > 0 {
		r.Repairs = append(r.Repairs, generable.Repair{Kind: tape.RepSequence.String(), Offset: a.Start, After: text.Count(int(a.Items), "item"), Cost: tape.RepairInfo[tape.RepSequence].Cost})
	}
	r.Repairs = m.appendSyntax(r.Repairs, a.Candidate, list)
	r.Repairs = append(r.Repairs, a.repairs...)
	if a.closers > 0 && m.o.Level != generable.Strict {
		k := tape.RepExtraCloser
		r.Repairs = append(r.Repairs, generable.Repair{Kind: k.String(), Offset: a.End, Before: strings.TrimSpace(m.src[a.End : a.End+a.closers]), Cost: tape.RepairInfo[k].Cost})
	}
	if len(list) >= tape.MaxRepairs || len(a.repairs) >= tape.MaxRepairs {
		r.tellRest()
	}
	if rest != "" && a.ok {
		r.drop(rest, at, m.o.Level)
	}
	for _, k := range list { // text dropped inside the value
		if k.Kind == tape.RepDropped && r.OK && m.o.Level != generable.Loose {
			r.refuse(m.src[k.Off:k.End], int(k.Off), m.o.Level)
		}
	}
	return r
}

// drop records that text after the value was dropped. Only Loose accepts that.
func (r *Result) drop(rest string, at int, level generable.Level) {
	cost := tape.RepairInfo[tape.RepDropped].Cost
	r.Cost += cost
	r.Repairs = append(r.Repairs, generable.Repair{Kind: tape.RepDropped.String(), Offset: at, Before: message.Shorten(rest), Cost: cost})
	if level != generable.Loose {
		r.refuse(rest, at, level)
	}
}

// refuse turns a value from which text was dropped into an error.
func (r *Result) refuse(rest string, at int, level generable.Level) {
	r.OK, r.Partial, r.Value = false, r.Value, generable.Value{}
	want := "the end of the value"
	if level == generable.Strict {
		want = "one value of JSON"
	}
	r.Errors = append(r.Errors, &generable.FieldError{Expected: want, Got: message.Quote(text.Cut(rest, message.MaxShown)), Offset: at, Hint: "answer with valid JSON: what follows would be lost"})
}

// dropped returns the text after a candidate that was probably part of it: up to a closer without an opener after
// the candidate. It returns "" if that text holds nothing.
func (m *Machine) dropped(a *attemptAt) string {
	rest := m.src[a.End:]
	if a.Fence >= 0 && m.scan.Fences[a.Fence].End >= a.End {
		rest = m.src[a.End:m.scan.Fences[a.Fence].End]
	}
	if m.o.Level == generable.Strict && rest != "" && (strings.IndexByte(",:]}[{#/\\", rest[0]) >= 0 || lex.Class[rest[0]]&lex.IsIdent != 0 && rest[0] < 0x80 && rest[0] != '.' && rest[0] != '-') {
		return rest // text that touches a JSON value is not prose
	}
	if m.o.Level != generable.Strict {
		if a.Items > 1 && lex.Unopened(rest) >= 0 && m.says(a.Start, a.End) {
			return m.src[a.Start:a.End] // the list that ends there holds more than the items
		}
		if before := m.structureBefore(a, rest); before != "" {
			return before
		}
	}
	if line, _, _ := strings.Cut(rest, "\n"); line != "" && (line[0] == '"' || lex.Class[line[0]]&lex.IsDigit != 0 || lex.Class[line[0]]&lex.IsIdent != 0 && strings.Contains(line, `":`)) {
		return line // it touches the value
	}
	rest = strings.TrimLeft(rest, ", \t\r\n;)`}]") // insignificant characters
	if end := lex.Unopened(rest); end >= 0 {
		return strings.TrimRight(rest[:end], ", \t\r\n")
	}
	return ""
}

// structureBefore returns the text before a candidate if the candidate was probably inside a structure; rest is the
// text after it. That is the case if it directly follows a quote or a colon that is not prose, or if signs precede it
// and a closer follows it.
func (m *Machine) structureBefore(a *attemptAt, rest string) string {
	from := 0
	if a.Fence >= 0 {
		from = min(m.scan.Fences[a.Fence].Body, a.Start)
	}
	from, _ = m.withoutReasoning(from, a.Start)
	text := strings.TrimRight(m.src[min(from, a.Start):a.Start], " \t\r\n")
	if text == "" {
		return ""
	}
	last := text[len(text)-1]
	signs := strings.IndexByte(",\"}]*`", last) >= 0 || strings.HasSuffix(text, "，")
	switch key := strings.TrimRight(strings.TrimSuffix(text, ":"), " \t"); {
	case last == '"' && m.src[a.Start-1] == '"', key != "" && m.src[a.Start-1] == ':' && strings.IndexByte("]}", key[len(key)-1]) >= 0:
	case last == ':' && endsInQuote(key) && (strings.Count(text, `":`) > 1 || strings.Count(text, "{") > strings.Count(text, "}")): // other members precede it
	case lex.Unopened(rest) >= 0 && (signs || last == ':' && endsInQuote(key) || m.brokenOff(a)):
	default:
		return ""
	}
	return text
}

// brokenOff reports whether another value began before a candidate and was not closed.
func (m *Machine) brokenOff(a *attemptAt) bool {
	return slices.ContainsFunc(answers(m.scan), func(k tape.Candidate) bool {
		return k.End <= a.Start && m.scan.Tape[k.Node].Flags&tape.FlagOpen != 0
	})
}

// tellRest adds a record with the total cost of the repairs that have no record of their own because there are too
// many.
func (r *Result) tellRest() {
	rest := r.Cost
	for i := range r.Repairs {
		rest -= r.Repairs[i].Cost
	}
	if rest > 0 {
		last := &r.Repairs[len(r.Repairs)-1]
		r.Repairs = append(r.Repairs, generable.Repair{Kind: tape.RepMore.String(), Offset: last.Offset, Cost: rest})
	}
}

// expects says what the text should have contained.
func (m *Machine) expects() string {
	t := m.typ.Deref()
	if t.Kind == generable.AnyType {
		return "a JSON value"
	}
	want, _ := in.Wanted(t)
	return want + " as JSON"
}

func (m *Machine) gotText() string {
	start, end := trimSpan(m.src, 0, len(m.src))
	if t := m.src[start:end]; t != "" {
		return "text without JSON: " + message.Quote(text.Cut(t, 2*message.MaxShown))
	}
	return "an empty text"
}

// surroundings records what is around the chosen candidate, except for dropped text after it, and reserves capacity
// for more records.
func (m *Machine) surroundings(a *attemptAt, dropped string, more int) []generable.Repair {
	var out []generable.Repair
	if more > 0 {
		out = make([]generable.Repair, 0, more+4)
	}
	s := m.scan
	if m.besideReasoning(a) {
		at := 0
		if len(s.Thinks) > 0 {
			at = s.Thinks[0].Start
		}
		out = append(out, generable.Repair{Kind: tape.RepReasoning.String(), Offset: at})
	}
	from, to := a.Start, a.End+a.closers
	if a.Fence >= 0 {
		f := s.Fences[a.Fence]
		out = append(out, generable.Repair{Kind: tape.RepFence.String(), Offset: f.Start, Before: message.Shorten(f.Tag)})
		from = f.Start
		if f.End >= 0 {
			to = f.End + f.N
		}
	}
	before, after := m.src[:from], m.src[min(to, len(m.src)):]
	if said := strings.TrimLeft(before, "\ufeff \t\r\n"); m.says(0, from) && !m.inThink(from) {
		out = append(out, generable.Repair{Kind: tape.RepProse.String(), Before: message.Shorten(said)})
	}
	if said := strings.TrimSpace(text.Cut(after, 2*message.MaxShown)); dropped == "" && m.says(to, len(m.src)) {
		out = append(out, generable.Repair{Kind: tape.RepProse.String(), Offset: to, Before: message.Shorten(said)})
	}
	return m.others(a, out)
}

// others records the values that were not chosen.
func (m *Machine) others(a *attemptAt, out []generable.Repair) []generable.Repair {
	list := answers(m.scan)
	for i := range list[:min(len(list), tape.MaxRepairs)] {
		if k := &list[i]; (k.End <= a.Start || k.Start >= a.End) && !isCitation(k) {
			out = append(out, generable.Repair{Kind: tape.RepNotChosen.String(), Offset: k.Start, Before: message.Shorten(m.src[k.Start:k.End])})
		}
	}
	return out
}

// says reports whether a range of the text holds anything other than candidates, blanks and commas.
func (m *Machine) says(from, to int) bool {
	list := answers(m.scan)
	for i := range list {
		if k := &list[i]; k.Start >= from && k.Start < to {
			if strings.Trim(m.src[from:k.Start], "\ufeff, \t\r\n") != "" {
				return true
			}
			from = k.End
		}
	}
	return from < to && strings.Trim(m.src[from:to], "\ufeff, \t\r\n") != ""
}

// besideReasoning reports whether the text holds reasoning outside the candidate.
func (m *Machine) besideReasoning(a *attemptAt) bool {
	th := m.scan.Thinks
	return a.Think || len(th) > 0 && (th[0].End <= a.Start || th[len(th)-1].End > a.End)
}

// inThink reports whether the text before offset to consists of one reasoning region.
func (m *Machine) inThink(to int) bool {
	th := m.scan.Thinks
	return len(th) > 0 && (len(th) == 1 || th[1].Start >= to) && strings.TrimSpace(m.src[:th[0].Start]) == "" && strings.TrimSpace(m.src[th[0].End:max(to, th[0].End)]) == ""
}
