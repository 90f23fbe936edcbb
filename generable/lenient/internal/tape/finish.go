package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// finish completes what is open at the end of the text. It reports whether there is more to read, because completing
// something went back.
func (s *Scanner) finish() bool {
	switch s.St {
	case StProse:
		return s.Pos < len(s.Src)
	case stFenceTicks:
		s.fenceTicks()
	case stFenceInfo:
		s.inFence, s.St = true, StProse
		f := &s.Fences[len(s.Fences)-1]
		f.Tag, f.Body = strings.TrimSpace(s.Src[f.Start+f.N:]), s.Pos
	case StThink:
		// The region never ended: its content is all that exists.
		s.noThink, s.St = true, StProse
		s.back(s.tok + 1)
		s.text()
	case stLineComment, stBlockComment:
		s.finishComment()
	case StRootAfter:
		return s.accept(s.Cand)
	case StString:
		return s.finishString()
	case stWord:
		return s.finishWord()
	case stWordQuote:
		s.wordQuote(0)
	case stConcat:
		s.repair(repJunk, s.tok, s.tok+1)
		return s.afterValue()
	case stTooDeep:
		return s.leaf(NodeNull, int(s.Cand.DeepAt), s.Pos, FlagRepaired)
	default:
		return s.endRegion(s.Pos)
	}
	return true
}

// finishComment ends a comment at the end of the text. A comment that holds closers of open brackets is not a comment
// if a value or a key directly follows its sign; otherwise it ends before the closers.
func (s *Scanner) finishComment() {
	s.St = s.ret
	start := s.tok + 1 // a block comment begins at its star
	if s.Src[s.tok] == '/' {
		start++
	}
	end := len(strings.TrimRight(s.Src, "}] \t\r\n"))
	first := lex.SkipBlanks(s.Src, min(start, len(s.Src)))
	if closers := s.Src[max(end, first):]; !(s.due('}') && strings.Contains(closers, "}")) && !(s.due(']') && strings.Contains(closers, "]")) {
		return
	}
	if first < end && (s.valueAt(first) || s.isMember(first) || strings.IndexByte(":,", s.Src[first]) >= 0) {
		if s.back(first) {
			s.repair(repJunk, s.tok, first)
		}
		return
	}
	s.back(max(end, first))
}

// finishString completes a string at the end of the text.
func (s *Scanner) finishString() bool {
	n := &s.Tape[s.Cur]
	start := int(n.Start)
	n.Span = 1
	n.End = uint32(len(s.Src))
	if end := s.urlEnd(start); n.Flags&FlagKey == 0 && s.Concat < 0 && s.endsAt(n, end, FlagRepaired) {
		return true
	}
	if s.Concat >= 0 {
		n.Flags |= FlagOpen
		return s.closePart()
	}
	if n.Flags&FlagKey != 0 {
		s.St = stColon
		if s.cutKey(n) {
			return true
		}
		if strings.ContainsAny(s.Src[start:], ":}]") { // it was not cut off: more than its name is lost
			s.repair(RepDropped, start, len(s.Src))
		}
		s.dropKey()
		return s.endRegion(s.Pos)
	}
	if one := s.Quote - quoteTriple; (s.Quote == quoteTriple || s.Quote == quoteTripleOne) && strings.IndexByte(s.Src[start:], s.Src[start-1]) >= 0 && s.back(start) {
		s.Quote, s.St = QuoteDouble+one, StString // two of its quotes are superfluous
		return true
	}
	if s.FenceCut >= start {
		if s.endsAt(n, s.closersAtEnd(start, s.FenceCut), 0) {
			return true
		}
		s.unquoted(n, s.FenceCut, 0)
		return s.endRegion(s.FenceCut)
	}
	if s.endsAt(n, s.closersAtEnd(start, len(s.Src)), 0) || s.endsAt(n, s.itemsBehind(start), FlagRepaired) {
		return true
	}
	n.Flags |= FlagOpen
	s.Soft = false
	return s.attached()
}

// endsAt goes back to end and ends the string there, as its closing quote is missing. It reports false if end is
// negative.
func (s *Scanner) endsAt(n *Node, end int, flags uint8) bool {
	return end >= 0 && s.back(end) && s.unquoted(n, end, flags)
}

// unquoted ends a string whose closing quote is missing.
func (s *Scanner) unquoted(n *Node, end int, flags uint8) bool {
	n.End = uint32(end)
	n.Flags |= flags
	s.repair(RepMissingQuote, end, end)
	s.Soft = false
	return s.attached()
}

// urlEnd returns the end of the string that began at start, if it is a URL without its closing quote: before the
// first character that URLs do not contain, if that is a comma or the closer of the innermost bracket. Otherwise it
// returns -1.
func (s *Scanner) urlEnd(start int) int {
	text := s.Src[start:]
	scheme, rest, ok := strings.Cut(text[:min(len(text), MaxGap)], "://")
	if !ok || !message.IsWord(scheme) || rest == "" {
		return -1
	}
	p := len(scheme) + len("://")
	for p < len(text) && text[p] > ' ' && text[p] < 0x7f && strings.IndexByte(",\"]}[{<>`\\|^", text[p]) < 0 {
		p++
	}
	if p == len(text) || !s.pay(p) {
		return -1
	}
	if c := text[p]; c != ',' && c != s.top().closer {
		return -1
	}
	return start + p
}

// itemsBehind returns the end of the string that began at start and runs to the end of the text because its closing
// quote is missing. The end is known if its first line ends in a comma, values follow on the next line and the text
// ends as the value does, or if the string holds the closers of all open brackets, with prose after them. Otherwise
// it returns -1.
func (s *Scanner) itemsBehind(start int) int {
	text := s.Src[start:]
	if !s.pay(len(text)) {
		return -1
	}
	trimmed := strings.TrimRight(text, " \t\r\n;)`")
	if line, rest, ok := strings.Cut(text, "\n"); ok && trimmed != "" && trimmed[len(trimmed)-1] == s.Stack[0].closer {
		line = strings.TrimRight(line, " \t\r")
		rest = strings.TrimLeft(rest, " \t\r\n")
		if short, comma := strings.CutSuffix(line, ","); comma && short != "" && rest != "" && lex.BeginsValue(rest[0]) && !s.top().obj {
			return start + len(short)
		}
	}
	p := lex.Unopened(text)
	if p < 0 {
		return -1
	}
	end := start + len(strings.TrimRight(text[:p], " \t\r\n,"))
	for k := len(s.Stack) - 1; k >= 0; k-- {
		p = lex.SkipBlanks(text, p)
		if p == len(text) || text[p] != s.Stack[k].closer {
			return -1
		}
		p++
	}
	behind := strings.TrimLeft(text[p:], " \t")
	if behind == "" || strings.IndexByte("\n\r;)`", behind[0]) >= 0 || strings.HasPrefix(behind, "</") || len(s.Stack) > 1 && behind[0] != ',' && strings.IndexByte(behind, '"') < 0 {
		return end
	}
	return -1
}

// closersAtEnd reports whether the text before p ends in exactly the missing closers, so that they belong to the
// containers rather than to the string that began at start. It returns the end of the string in that case, else -1.
func (s *Scanner) closersAtEnd(start, p int) int {
	n := len(s.Stack)
	run := 0 // closers at the end, possibly more than needed
	q := p
	for ; q > start; q-- {
		if c := s.Src[q-1]; c == '}' || c == ']' || c == ')' {
			run++
		} else if lex.Class[c]&lex.IsBlank == 0 {
			break
		}
	}
	if !s.pay(p - q) {
		return -1
	}
	for ; run > n; run-- {
		p = s.trimBefore(start, p) - 1
	}
	for i, f := range s.Stack {
		if p = s.trimBefore(start, p); p == start || s.Src[p-1] != f.closer && (i < n-1 || strings.IndexByte("}]", s.Src[p-1]) < 0) {
			return -1 // only the innermost one may be of the wrong kind
		}
		p--
	}
	p = s.trimBefore(start, p)
	for p > start+1 && (s.Src[p-1] == ',' || s.Src[p-1] == ';') {
		p = s.trimBefore(start, p-1)
	}
	// Brackets that open inside the string close there too.
	text := s.Src[start:p]
	if !s.pay(len(text)) || strings.Count(text, "{")+strings.Count(text, "[") > strings.Count(text, "}")+strings.Count(text, "]") {
		return -1
	}
	return p
}

// finishWord completes an unquoted text at the end of the text; a literal or a number may be cut off.
func (s *Scanner) finishWord() bool {
	w := s.Src[s.tok:s.wordEnd]
	cut := w
	for cut != "" && strings.IndexByte("}] \t\r\n", cut[len(cut)-1]) >= 0 && strings.Count(cut, "{")+strings.Count(cut, "[") <= strings.Count(cut, "}")+strings.Count(cut, "]")-1 {
		cut = cut[:len(cut)-1]
	}
	if cut = strings.TrimRight(cut, " \t\r\n"); cut != "" && len(cut) < len(w) && !s.wordKey && !s.Soft && s.pay(len(w)) {
		s.repair(RepExtraCloser, s.tok+len(cut), s.wordEnd) // they close nothing, but do not belong to the word
		s.wordEnd = s.tok + len(cut)
		w = cut
	}
	if s.wordKey {
		s.St = stObjNext
		return s.endRegion(s.tok)
	}
	if kind, _ := ClassifyWord(w); kind == NodeWord && w != "" {
		if kind := lex.CutLiteral(w); kind != NodeWord {
			s.repair(RepTruncated, s.tok, s.wordEnd)
			return s.leaf(kind, s.tok, s.wordEnd, FlagRepaired|FlagOpen)
		}
		if c := w[0]; c == '-' || c == '+' || c == '.' || lex.Class[c]&lex.IsDigit != 0 {
			number := strings.TrimRight(w, "eE+-.")
			if kind, _ := ClassifyWord(number); kind != NodeWord {
				s.repair(RepTruncated, s.tok, s.wordEnd)
				return s.leaf(kind, s.tok, s.tok+len(number), FlagRepaired|FlagOpen)
			}
			if number == "" {
				s.toValue()
				return s.endRegion(s.Pos)
			}
		}
	}
	last := len(s.Tape)
	if s.endWord(); len(s.Tape) > last {
		s.Tape[last].Flags |= FlagOpen
	}
	return true
}
