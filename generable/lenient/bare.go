package lenient

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/lazy"
)

// bracketed considers a text that lacks brackets, or the first of them, as their content: a list of values, "a", "b",
// the members of an object, "a": 1, or a single broken scalar, 'a. It does so only if the text as a whole reads like
// that, so that prose stays prose, and reports whether it does.
func (m *Machine) bracketed(c *coerce.Coercer, consider func(tape.Candidate) bool) bool {
	start, end, fence := m.body()
	return m.bracketedAt(c, start, end, fence, consider)
}

// body returns the range of the text without reasoning, narrowed to the content of its only fence.
func (m *Machine) body() (start, end, fence int) {
	start, end = trimSpan(m.src, 0, len(m.src))
	start, end = m.withoutReasoning(start, end)
	start, end = m.withoutElement(start, end)
	if start < end {
		start = min(lex.PastGap(m.src[:end], start), end)
	}
	if start < end && startsWithKey(m.src[start:end]) {
		return start, end, -1 // the fence is inside a member
	}
	if fences := m.scan.Fences; len(fences) == 1 && (len(m.scan.Cands) == 0 || m.scan.Cands[0].Fence == 0) {
		if f := fences[0]; f.Start >= start && isDataTag(f.Tag) {
			if from, to := m.fenced(f); from < to {
				return from, to, 0
			}
		}
	}
	return start, end, -1
}

// bracketedAt is bracketed for a range of the text inside the fence with the given index.
func (m *Machine) bracketedAt(c *coerce.Coercer, start, end, fence int, consider func(tape.Candidate) bool) bool {
	if start >= end || m.o.Level == generable.Strict {
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
	first := tape.Scanner{Src: text}
	if kind, w := first.QuoteAt(0); w > 0 && kind != tape.QuoteFence {
		if i := strings.LastIndexByte(text, '\\'); i == len(text)-1 || i > 0 && i > len(text)-6 && text[i+1] == 'u' {
			closer = "" // a text that ends in the middle of an escape
		}
	}
	if n := len(m.scan.Tape) - 1; n >= 0 && m.scan.Tape[n].Kind == tape.NodeStr && m.scan.Tape[n].Flags&tape.FlagOpen != 0 {
		closer = "" // a text that ends inside a string in brackets
	}
	s := c.Scan(open + text + closer)
	if len(s.Cands) != 1 || s.Cands[0].TooDeep || strings.Trim(s.Src[s.Cands[0].End:], "}] \t\r\n") != "" {
		return false // several closers may follow it
	}
	root := s.Cands[0].Node
	if s.Tape[root].Kind == tape.NodeArr && s.Tape[root].Count == 1 && (!takesList(m.typ, 0) || text[0] == '(' && s.Tape[root+1].Kind == tape.NodeArr) {
		root++ // neither a single value nor a tuple needs a list around it
	}
	at := c.Embed(s, start, 1)
	cand := tape.Candidate{Node: at + root, Start: start, End: end, Fence: int32(fence), Broken: true, Repairs: int32(len(m.scan.Repairs))}
	for _, r := range s.Repairs { // offsets in the input, which the added bracket shifts by one
		r.Off, r.End, r.Node = shifted(r.Off, start, end), shifted(r.End, start, end), 0
		m.scan.Repairs = append(m.scan.Repairs, r)
	}
	m.scan.Repairs = append(m.scan.Repairs, tape.SynRepair{Kind: tape.RepBrackets, Off: uint32(start), End: uint32(start)})
	cand.RepairsEnd = int32(len(m.scan.Repairs))
	cand.Cost = s.Cands[0].Cost + tape.RepairInfo[tape.RepBrackets].Cost
	consider(cand)
	return true
}

// beginsInside reports whether the text begins with a quoted key before the first bracket: its brackets then are
// values of an object that lacks its own.
func (m *Machine) beginsInside(list []tape.Candidate) bool {
	start, end, _ := m.body()
	if start >= list[0].Start {
		return false
	}
	whole := m.src[start:end]
	tuple := len(whole) > 2 && whole[0] == '(' && whole[len(whole)-1] == ')' && strings.TrimSpace(m.src[start+1:list[0].Start]) == ""
	if tuple || lacksBrace(whole) && m.closersLeft(list) {
		return true
	}
	if start, end = trimSpan(m.src, start, list[0].Start); start == end {
		return false
	}
	if m.src[start] != '"' { // a: 1} lacks its first brace, and a": 1} also the quote after it
		name, _, ok := strings.Cut(m.src[start:end], ":")
		return ok && message.IsWord(strings.TrimSuffix(name, `"`)) && (whole[len(whole)-1] == '}' && m.closersLeft(list) || membersOnLines(whole))
	}
	return startsWithKey(m.src[start:end])
}

// startsWithKey reports whether a text begins with a quoted key and a colon.
func startsWithKey(text string) bool {
	if text[0] != '"' {
		return false
	}
	p := lex.SkipName(text, 1, true)
	return text[p-1] == '"' && strings.HasPrefix(strings.TrimLeft(text[p:], " \t\r\n"), ":")
}

// withoutElement strips the tags from a range that consists of one element: <answer>…</answer>.
func (m *Machine) withoutElement(start, end int) (int, int) {
	text := m.src[start:end]
	tag, _, ok := strings.Cut(text, ">")
	if name := strings.TrimPrefix(tag, "<"); ok && len(name) < len(tag) && message.IsWord(name) && strings.HasSuffix(text, "</"+name+">") {
		return trimSpan(m.src, start+len(tag)+1, end-len(tag)-2)
	}
	return start, end
}

// lacksBrace reports whether a text begins with a quote or a comma and ends in a brace, like the members of an object
// without its first brace.
func lacksBrace(text string) bool {
	if text[len(text)-1] != '}' {
		return false
	}
	s := tape.Scanner{Src: text}
	kind, w := s.QuoteAt(0)
	return text[0] == ',' || w > 0 && kind != tape.QuoteFence
}

// closersLeft reports whether the text has more closing braces than opening ones. Braces in a candidate that is valid
// JSON are inside its strings, or matched.
func (m *Machine) closersLeft(list []tape.Candidate) bool {
	balance, at := 0, 0
	count := func(text string) { balance += strings.Count(text, "{") - strings.Count(text, "}") }
	for i := range list {
		if k := &list[i]; !k.Broken && k.Start >= at {
			count(m.src[at:k.Start])
			at = k.End
		}
	}
	count(m.src[at:])
	return balance < 0
}

// shifted converts an offset in the text with the added bracket to an offset in the input.
func shifted(off uint32, start, end int) uint32 {
	return uint32(min(max(int(off)-1+start, start), end))
}

type bareForm uint8

const (
	bareProse bareForm = iota
	bareItems
	bareMembers
)

// bareForm reports what a text without brackets looks like, judging by how it begins.
func (m *Machine) bareForm(c *coerce.Coercer, text string) bareForm {
	s := tape.Scanner{Src: text, Eof: true}
	kind, w := s.QuoteAt(0)
	switch {
	case lacksBrace(text) && strings.Count(text, "{") < strings.Count(text, "}"):
		return bareMembers
	case w > 0 && kind != tape.QuoteFence:
		s.Quote = kind
		rest := text[w:]
		for p := w; p < len(text) && p < 4*message.MaxName; p++ {
			if n := s.QuoteEnds(p); n > 0 {
				rest = strings.TrimLeft(text[p+n:], " \t\r\n")
				break
			}
		}
		if strings.HasPrefix(rest, ":") {
			return bareMembers
		}
		// Prose may begin with a quotation, but rarely consists of nothing else.
		if endsInQuote(text) || strings.Count(text, text[:w])-strings.Count(text, `\`+text[:w]) == 1 && !strings.Contains(text, "\n") {
			return bareItems
		}
	case text[0] == '(' && text[len(text)-1] == ')':
		return bareItems
	case lex.Class[text[0]]&lex.IsDigit != 0 || text[0] == '-':
		n := scalarsIn(strings.TrimSuffix(text, "]"))
		if (n > 1 || n == 1 && text[len(text)-1] == ',' || m.valuesOnLines(answers(m.scan))) && (m.typ.Deref().Kind == generable.AnyType || takesList(m.typ, 0)) {
			return bareItems
		}
	case text[len(text)-1] == ')' && lex.IsCallee(text[:max(strings.IndexByte(text, '('), 0)]):
		return bareItems
	case lex.Class[text[0]]&lex.IsIdent != 0:
		// name: value, where the name is a field of the wanted type.
		if name, _, ok := strings.Cut(text[:min(len(text), message.MaxName)], ":"); ok && c.TakesKey(m.typ, strings.TrimSpace(name)) {
			return bareMembers
		} else if quoted := strings.TrimSuffix(name, `"`); ok && (m.typ.Deref().Kind == generable.AnyType || quoted != name) && message.IsWord(quoted) && (text[len(text)-1] == '}' || membersOnLines(text)) {
			return bareMembers
		}
	case text[0] == '{' || text[0] == '[':
		return bareItems // the caller has checked it
	}
	return bareProse
}

func endsInQuote(text string) bool {
	text = strings.TrimRight(text, ",]+ \t\r\n")
	_, n := utf8.DecodeLastRuneInString(text)
	_, w := (&tape.Scanner{Src: text}).QuoteAt(len(text) - n)
	return w > 0
}

// membersOnLines reports whether each of several lines is a member, name: value, with a name like those in programs.
// Prose whose lines begin with a word and a colon usually capitalizes the word.
func membersOnLines(text string) bool {
	n := 0
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok || !message.IsWord(name) || name[0] < 'a' || len(name) > lex.MaxLiteral || strings.TrimSpace(value) == "" {
			return false
		}
		n++
	}
	return n > 1
}

// entities are the HTML entities for characters of JSON and for those that HTML escapes itself.
var entities = strings.NewReplacer(
	"&quot;", `"`, "&#34;", `"`, "&#x22;", `"`, "&apos;", "'", "&#39;", "'", "&#x27;", "'",
	"&lt;", "<", "&#60;", "<", "&gt;", ">", "&#62;", ">", "&amp;", "&", "&#38;", "&",
)

// unescaped considers the values of a text that was HTML-escaped as a whole, {&quot;a&quot;: 1}, and reports whether
// it holds any. A text with a plain quote was not escaped.
func (m *Machine) unescaped(c *coerce.Coercer, consider func(tape.Candidate) bool) bool {
	if m.o.Level == generable.Strict || strings.IndexByte(m.src, '"') >= 0 || strings.IndexByte(m.src, '&') < 0 || !entityQuoted().MatchString(m.src) {
		return false
	}
	start, end := trimSpan(m.src, 0, len(m.src))
	s := c.Scan(entities.Replace(m.src[start:end]))
	c.Visits += len(s.Src)
	if len(s.Cands) > 0 { // what the entities were read as is no longer needed
		c.Tape, m.scan.Tape = nil, nil
	}
	at := c.Embed(s, start, 1)
	for _, k := range answers(s) {
		from := len(m.scan.Repairs)
		m.scan.Repairs = append(m.scan.Repairs, tape.SynRepair{Kind: tape.RepEscaped, Off: uint32(start), End: uint32(start)})
		for _, r := range s.Repairs[k.Repairs:k.RepairsEnd] { // its offsets are meaningless in the input
			m.scan.Repairs = append(m.scan.Repairs, tape.SynRepair{Kind: r.Kind, Off: uint32(start), End: uint32(start)})
		}
		consider(tape.Candidate{
			Node: at + k.Node, Start: start, End: end, Fence: -1, Broken: true, TooDeep: k.TooDeep, DeepAt: int32(start),
			Repairs: int32(from), RepairsEnd: int32(len(m.scan.Repairs)), Cost: k.Cost + tape.RepairInfo[tape.RepEscaped].Cost,
		})
	}
	return len(s.Cands) > 0
}

// entityQuoted finds a bracket that is followed by an HTML-escaped quote.
var entityQuoted = lazy.Regexp(`[{\[][ \t\r\n]*&(quot|#34|#x22|#39|apos);`)

// names holds the fields of the schemas in a type, for texts without quotes.
type names struct {
	schemas []*generable.Type
	open    bool // values may have other keys
	made    bool
}

// Text reports whether a field with that name holds a text, and values cannot have keys other than fields.
func (m *Machine) Text(key string) bool {
	if !m.names.made {
		m.names.made = true
		m.names.add(m.typ)
	}
	f := m.field(key)
	if m.names.open || f == nil {
		return false
	}
	t := f.Type.Deref()
	return t.Kind == generable.StrType || t.Kind == generable.OneOfType && slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return v.Deref().Kind == generable.StrType })
}

// Known reports whether a field has that name.
func (m *Machine) Known(key string) bool { return m.field(key) != nil }

// field returns the first field that a key may mean.
func (m *Machine) field(key string) *generable.Field {
	for _, t := range m.names.schemas {
		if i, _ := coerce.FindField(t, key, m.o.Level); i >= 0 {
			return &t.Fields[i]
		}
	}
	return nil
}

// add adds the schemas in type t.
func (n *names) add(t *generable.Type) {
	switch t = t.Deref(); t.Kind {
	case generable.AnyType, generable.DictType:
		n.open = true
	case generable.ListType, generable.LimitType:
		n.add(t.Elem)
	case generable.UnionType, generable.OneOfType:
		for _, v := range t.Variants {
			n.add(v)
		}
	case generable.RecordType:
		if slices.Contains(n.schemas, t) {
			return
		}
		n.schemas = append(n.schemas, t)
		for i := range t.Fields {
			n.add(t.Fields[i].Type)
		}
	}
}
