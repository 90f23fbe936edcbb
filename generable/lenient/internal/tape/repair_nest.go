package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// This file repairs missing or superfluous brackets in the middle of a value.

// inList reports whether the innermost bracket is an item of a list in brackets.
func (s *Scanner) inList() bool {
	n := len(s.Stack)
	return n > 1 && !s.Stack[n-2].obj && s.Stack[n-2].closer == ']'
}

// enter opens the container at tape index at, possibly again.
func (s *Scanner) enter(at int, obj bool) {
	s.Rewrites++
	s.enterAs(frameOf(at, obj))
	s.Tape[at].End, s.Tape[at].Span = 0, 0
}

// enterAs opens a container that is on the tape, or will be next.
func (s *Scanner) enterAs(f scanFrame) {
	s.opens[lex.CloserIndex(f.closer)]++
	s.Stack = append(room(s, s.Stack), f)
}

// frameOf returns the frame of an object or a list, as JSON brackets open it.
func frameOf(at int, obj bool) scanFrame {
	if obj {
		return scanFrame{node: uint32(at), obj: true, closer: '}'}
	}
	return scanFrame{node: uint32(at), closer: ']'}
}

// rejoinList continues the list that is the last value of the current object, when an opening bracket appears in
// place of a key: {"a": [1], [2]}. A list joins a list of lists as an item, and other lists with its items.
func (s *Scanner) rejoinList() bool {
	at := s.lastClosed
	if !s.reenter(len(s.Tape)) {
		return false
	}
	s.St = stArrNext
	if s.Tape[at].Count == 0 || s.Tape[at+1].Kind != NodeArr {
		s.Pos++
	}
	return true
}

// rejoinItem does the same for a scalar in place of a key: {"a": [1], 2].
func (s *Scanner) rejoinItem() bool {
	last := len(s.Tape) - 1
	item := s.Tape[last]
	if !s.reenter(last) {
		return false
	}
	s.unkey(&item)
	s.Tape = append(s.Tape[:last], item)
	return s.attached()
}

// reenter reopens the list that was closed last, if it ends at tape index end and is the last value of the current
// object.
func (s *Scanner) reenter(end int) bool {
	top, at := s.Stack[len(s.Stack)-1], s.lastClosed
	if at <= int(top.node) || at >= end || s.Tape[top.node].Count == 0 || len(s.Stack) >= s.MaxDepth {
		return false
	}
	n := &s.Tape[at]
	if n.Kind != NodeArr || at+int(n.Span) != end {
		return false
	}
	s.repair(RepExtraCloser, int(n.End)-1, int(n.End))
	s.Tape[top.node].Count--
	s.enter(at, false)
	s.forget()
	return true
}

// keyInList handles a colon after a string that looked like an item. The list lacks its closer, {"a": [1, 2, "b": 3},
// unless it is not inside an object or turns out to continue: then the members lack their opening brace, [{"a": 1},
// "a": 2}].
func (s *Scanner) keyInList() bool {
	at := len(s.Tape) - 1
	top := s.Stack[len(s.Stack)-1]
	if top.obj || top.closer != ']' || int(s.LastStr.Node) != at || s.TentStr.Node >= 0 || len(s.Stack) >= s.MaxDepth {
		return false
	}
	key := s.Tape[at]
	if key.Flags&FlagRepaired != 0 && s.LastStr.kind == QuoteDouble || !s.isName(&key) {
		return false
	}
	list := &s.Tape[top.node]
	if s.continues(at, key) {
		list.Count -= 2
		sibling := s.lastClosed
		s.repair(RepExtraCloser, int(s.Tape[sibling].End)-1, int(s.Tape[sibling].End))
		s.Tape = s.Tape[:at]
		s.enter(sibling, true)
	} else if list.Count--; len(s.Stack) > 1 && s.Stack[len(s.Stack)-2].obj && list.Count > 0 {
		s.Tape = s.Tape[:at]
		s.Rewrites++
		s.repair(repMissingCloser, int(key.Start)-1, int(key.Start)-1)
		s.closeTop(int(key.Start) - 1)
	} else {
		s.repair(RepBrackets, int(key.Start)-1, int(key.Start)-1)
		s.Tape[at] = Node{Kind: NodeObj, Flags: FlagRepaired, Start: key.Start - 1}
		s.enter(at, true)
	}
	key.Flags |= FlagKey
	s.Tape = append(s.Tape, key)
	return true
}

// furtherIn reports whether the scalar at tape index at, which ends before the current key, belongs or may belong to
// the container that was closed last.
func (s *Scanner) furtherIn(at int) bool {
	top, last := int(s.top().node), s.lastClosed
	return last < 0 || last > top && last+int(s.Tape[last].Span) > at
}

// continues reports whether a key belongs to the object that ends directly before it, at tape index end, [{"a": 1},
// "b": 2}]: that object does not have it, no object of the list begins with it, and the list is not inside an object
// that could have it. It looks at a bounded number of keys.
func (s *Scanner) continues(end int, key Node) bool {
	at, first := s.lastClosed, int(s.top().node)+1
	if at < first || at >= end || s.Tape[at].Kind != NodeObj || at+int(s.Tape[at].Span) != end || s.hasKey(at, key) {
		return false
	}
	return (len(s.Stack) < 2 || !s.Stack[len(s.Stack)-2].obj) &&
		(at == first || s.Tape[first].Kind != NodeObj || s.Tape[first].Count == 0 || s.raw(first+1) != s.Src[key.Start:key.End])
}

// raw returns the text of the node at a tape index as written.
func (s *Scanner) raw(at int) string { return s.Src[s.Tape[at].Start:s.Tape[at].End] }

// hasKey reports whether the first members of the object at a tape index include the given key.
func (s *Scanner) hasKey(at int, key Node) bool {
	n := 0
	for k := range Members(s.Tape, at) {
		if n++; n > maxPops || s.raw(k) == s.Src[key.Start:key.End] {
			return true
		}
	}
	return false
}

// maxRejoin bounds the bytes that are examined after a whole value.
const maxRejoin = 96

// rootAfter examines what follows a complete object. A comma and another key mean that its closer was superfluous:
// {"a": {"b": 1}}, "c": 2}.
func (s *Scanner) rootAfter() bool {
	p := lex.SkipBlanks(s.upTo(s.Pos+maxRejoin), s.Pos)
	if p == len(s.Src) && !s.Eof {
		return false
	}
	if p < len(s.Src) && s.Src[p] != '{' && s.Src[p] != '[' && (lex.Class[s.Src[p]]&lex.IsIdent == 0 || s.Src[p] >= 0x80) {
		if !s.wants(2*maxRejoin + 3*maxMember) {
			return false
		}
		if at := s.membersGoOn(p); at >= 0 {
			return s.rejoin(at)
		}
	}
	if strings.IndexByte(s.Src[s.Pos:p], '\n') >= 0 { // anything on another line is another value, or prose
		return s.accept(s.Cand)
	}
	if done, more := s.unpop(); done || more {
		return done
	}
	return s.accept(s.Cand)
}

// membersGoOn returns where the members of the object that was closed last continue, after closers, a comma or both
// at p, or -1 if they do not.
func (s *Scanner) membersGoOn(p int) int {
	src, comma := s.upTo(s.Pos+maxRejoin), false
	at := p
	for ; p < len(src); p = lex.PastGap(src, p) {
		n := 1
		if s.Fold(p) == ',' {
			n = 3
		} else if strings.IndexByte(",;}]", src[p]) < 0 {
			break
		}
		if closer := src[p] == '}' || src[p] == ']'; closer && comma {
			return -1
		} else if !closer {
			comma = true
		}
		p += n
	}
	at = p
	if p = lex.PastGap(src, p); comma {
		p = s.pastWord(src, p)
	}
	behind, quoted := s.keyAt(p)
	if behind < 0 || !quoted && !comma {
		return -1
	}
	value := lex.SkipBlanks(src, behind)
	if _, w := s.QuoteAt(min(value, len(s.Src))); value >= len(s.Src) || w == 0 && !lex.BeginsValue(s.Src[value]) && strings.IndexByte("+.TFN", s.Src[value]) < 0 {
		return -1
	}
	if !quoted {
		before, root := s.trimBefore(0, s.Cand.Start), s.Cand.Node
		words := root+1 < len(s.Tape) && s.Tape[root+1].Kind == NodeWord
		if before > 0 && s.Src[before-1] == ':' || !words && lex.CloserAt(src, p, '}') < 0 {
			return -1
		}
	}
	return at
}

// pastWord returns the offset of the quoted key that follows a word at offset p, else p.
func (s *Scanner) pastWord(src string, p int) int {
	word := lex.SkipName(src, p, false)
	if next := lex.SkipBlanks(src, word); word > p && next > word && s.isKeyAt(next) {
		return next
	}
	return p
}

// rejoin continues the candidate, an object, at offset at.
func (s *Scanner) rejoin(at int) bool {
	end := s.Cand.End
	s.Cand.Cost, s.Cand.End = s.cost-s.Cand.Cost, 0
	s.Soft = false
	s.enter(s.Cand.Node, true)
	s.repair(RepExtraCloser, end-1, end)
	s.rewound += at - s.Pos
	s.Pos = at
	s.St = stObjNext
	return true
}

// The functions below distinguish sets, {"a", "b"}, from objects.

// makeSet turns the object whose only key so far has no value into a list.
func (s *Scanner) makeSet() bool {
	top := s.top()
	obj := &s.Tape[top.node]
	key := &s.Tape[len(s.Tape)-1]
	s.repair(RepSet, int(obj.Start), int(obj.Start)+1)
	obj.Kind, top.obj = NodeArr, false
	s.unkey(key)
	s.Soft = false
	s.forget()
	return s.attached()
}

// unkey turns a key into an item.
func (s *Scanner) unkey(key *Node) {
	key.Flags &^= FlagKey
	if key.Kind != NodeWord {
		return
	}
	kind, rep := ClassifyWord(s.Src[key.Start:key.End])
	if key.Kind = kind; kind == NodeWord {
		rep = RepMissingQuotes
	}
	if rep != RepNone {
		s.repair(rep, int(key.Start), int(key.End))
	}
}
