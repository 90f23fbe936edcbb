package generable

import "strings"

// bracketed considers a text without brackets, or without the first of them, as what stands
// between them: a list of values, "a", "b", the members of an object, "a": 1, or a single
// broken scalar, 'a. It does so only where the text as a whole reads like that, so that prose
// stays prose, and reports whether it does.
func (m *Machine) bracketed(c *coercer, consider func(candidate) bool) bool {
	if m.o.Level == Strict || m.typ.Deref().Kind == StrType {
		return false
	}
	start, end, fence := m.body()
	return m.bracketedAt(c, start, end, fence, consider)
}

// body is the range of the text without reasoning, and of what stands in the only fence of it.
func (m *Machine) body() (start, end, fence int) {
	start, end = trimSpan(m.src, 0, len(m.src))
	start, end = m.withoutReasoning(start, end)
	if fences := m.scan.fences; len(fences) == 1 && (len(m.scan.cands) == 0 || m.scan.cands[0].fence == 0) {
		if f := fences[0]; f.start >= start && isJSONTag(f.tag) {
			if from, to := m.fenced(f); from < to {
				return from, to, 0
			}
		}
	}
	return start, end, -1
}

// bracketedAt does so with a range of the text, in the fence of that index.
func (m *Machine) bracketedAt(c *coercer, start, end, fence int, consider func(candidate) bool) bool {
	if start >= end || m.o.Level == Strict {
		return false
	}
	text := m.src[start:end]
	open, closer := "[", "]"
	switch m.bareForm(c, text) {
	case bareMembers:
		open, closer = "{", "}"
	case bareProse:
		return false
	}
	s := newScanner(m.o.MaxDepth)
	s.src = text
	if kind, w := s.quoteAt(0); w > 0 && kind != quoteFence {
		if i := strings.LastIndexByte(text, '\\'); i == len(text)-1 || i > 0 && i > len(text)-6 && text[i+1] == 'u' {
			closer = "" // a text that is cut in an escape
		}
	}
	s.feed(open + text + closer)
	s.close()
	c.visits += s.visits()
	if len(s.cands) != 1 || s.cands[0].tooDeep || strings.Trim(s.src[s.cands[0].end:], "}] \t\r\n") != "" {
		return false // more closers than one may stand behind it
	}
	root := s.cands[0].node
	if s.tape[root].kind == nodeArr && s.tape[root].count == 1 && (!takesList(m.typ, 0) || text[0] == '(' && s.tape[root+1].kind == nodeArr) {
		root++ // a single value needs no list around it, nor does a tuple
	}
	at := m.embed(c, s, start)
	cand := candidate{node: at + root, start: start, end: end, fence: fence, broken: true, repairs: len(m.scan.repairs)}
	for _, r := range s.repairs { // offsets in the input: the bracket shifts them by one
		r.off, r.end, r.node = shifted(r.off, start, end), shifted(r.end, start, end), 0
		m.scan.repairs = append(m.scan.repairs, r)
	}
	m.scan.repairs = append(m.scan.repairs, synRepair{kind: repBrackets, off: uint32(start), end: uint32(start)})
	cand.repairsEnd = len(m.scan.repairs)
	cand.cost = s.cands[0].cost + repairInfo[repBrackets].cost
	consider(cand)
	return true
}

// beginsInside reports whether the text begins with a key in quotes, before the first bracket:
// the brackets in it are values of an object without its own.
func (m *Machine) beginsInside(list []candidate) bool {
	start, end, _ := m.body()
	if start >= list[0].start {
		return false
	}
	if text := m.src[start:end]; len(text) > 2 && text[0] == '(' && text[len(text)-1] == ')' && strings.TrimSpace(m.src[start+1:list[0].start]) == "" {
		return true
	}
	if lacksBrace(m.src[start:end]) && m.closersLeft(list) {
		return true
	}
	whole := strings.TrimRight(m.src[start:end], " \t\r\n")
	if start, end = trimSpan(m.src, start, list[0].start); start == end {
		return false
	}
	if m.src[start] != '"' { // a: 1} lacks its first brace
		p := skipName(m.src, start, false)
		return p < end && m.src[p] == ':' && isWord(m.src[start:p]) && whole[len(whole)-1] == '}' && m.closersLeft(list)
	}
	p := skipName(m.src, start+1, true)
	return p < end && m.src[p-1] == '"' && strings.HasPrefix(strings.TrimLeft(m.src[p:end], " \t\r\n"), ":")
}

// lacksBrace reports whether a text begins with a quote or a comma and ends in a brace, as members
// do of an object without its first brace.
func lacksBrace(text string) bool {
	if text[len(text)-1] != '}' {
		return false
	}
	s := scanner{src: text}
	kind, w := s.quoteAt(0)
	return text[0] == ',' || w > 0 && kind != quoteFence
}

// closersLeft reports whether the text has more closing braces than opening ones. Those of a
// candidate that is valid JSON are in its strings, or matched.
func (m *Machine) closersLeft(list []candidate) bool {
	balance, at := 0, 0
	count := func(text string) { balance += strings.Count(text, "{") - strings.Count(text, "}") }
	for i := range list {
		if k := &list[i]; !k.broken && k.start >= at {
			count(m.src[at:k.start])
			at = k.end
		}
	}
	count(m.src[at:])
	return balance < 0
}

// shifted is the offset in the input of an offset in the text with a bracket put before it.
func shifted(off uint32, start, end int) uint32 {
	return uint32(min(max(int(off)-1+start, start), end))
}

type bareForm uint8

const (
	bareProse bareForm = iota
	bareItems
	bareMembers
)

// bareForm tells what a text without brackets looks like, by how it begins.
func (m *Machine) bareForm(c *coercer, text string) bareForm {
	s := scanner{src: text, eof: true}
	kind, w := s.quoteAt(0)
	switch {
	case lacksBrace(text) && strings.Count(text, "{") < strings.Count(text, "}"):
		return bareMembers
	case w > 0 && kind != quoteFence:
		s.quote = kind
		rest := text[w:]
		for p := w; p < len(text) && p < 4*maxSuggestLen; p++ {
			n := s.quoteEnds(p)
			if kind == quoteDouble || kind == quoteEscaped {
				if other, n2 := s.quoteAt(p); other == kind && n2 > 0 {
					n = n2
				}
			}
			if n > 0 {
				rest = strings.TrimLeft(text[p+n:], " \t\r\n")
				break
			}
		}
		if strings.HasPrefix(rest, ":") {
			return bareMembers
		}
		// Prose may begin with a quotation, but hardly is nothing else.
		if endsInQuote(text) || strings.Count(text, text[:w]) == 1 && !strings.Contains(text, "\n") {
			return bareItems
		}
	case text[0] == '(' && text[len(text)-1] == ')':
		return bareItems
	case class[text[0]]&isDigit != 0 || text[0] == '-':
		if numbersOnly(text) && (m.typ.Deref().Kind == AnyType || takesList(m.typ, 0)) {
			return bareItems
		}
	case text[len(text)-1] == ')' && isCallee(text[:max(strings.IndexByte(text, '('), 0)]):
		return bareItems
	case class[text[0]]&isIdent != 0:
		// name: value, where the name is a field of what is wanted.
		if name, _, ok := strings.Cut(text[:min(len(text), maxSuggestLen)], ":"); ok && c.takesKey(m.typ, strings.TrimSpace(name)) {
			return bareMembers
		} else if ok && m.typ.Deref().Kind == AnyType && isWord(name) && (text[len(text)-1] == '}' || membersOnLines(text)) {
			return bareMembers
		}
	case text[0] == '{' || text[0] == '[':
		return bareItems // the caller has looked at it
	}
	return bareProse
}

func endsInQuote(text string) bool {
	text = strings.TrimRight(text, ",]+ \t\r\n")
	for _, q := range [...]string{`"`, "'", "`", "”", "’", "´"} {
		if strings.HasSuffix(text, q) {
			return true
		}
	}
	return false
}

// numbersOnly reports whether a text is a list of several numbers, between commas or on lines
// of their own.
func numbersOnly(text string) bool {
	n := 0
	for rest := strings.TrimSuffix(text, "]"); rest != ""; n++ {
		item := rest
		i := strings.IndexAny(rest, ",\n")
		if i >= 0 {
			item, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		if item = strings.TrimSpace(item); item == "" && (rest == "" || n > 0) {
			continue
		}
		if kind, _ := classifyNumber(item); item == "" || kind == nodeWord {
			return false
		}
	}
	return n > 1
}

// membersOnLines reports whether each of several lines is a member, name: value, with a name
// as programs have them. A text whose lines merely begin with a word and a colon tends to
// write it with a capital.
func membersOnLines(text string) bool {
	n := 0
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok || !isWord(name) || name[0] < 'a' || len(name) > maxLiteral || strings.TrimSpace(value) == "" {
			return false
		}
		n++
	}
	return n > 1
}
