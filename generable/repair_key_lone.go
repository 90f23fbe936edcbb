package generable

import "strings"

// This file decides what a key without a value is.

// loneKey handles a key that a comma or closer follows: {"a", "b"} is a set, {"a": 1, "b"}
// lacks a value, and {"a": 1, b} ends in a stray word.
func (s *scanner) loneKey(word bool, c byte) bool {
	top := &s.stack[len(s.stack)-1]
	obj := &s.tape[top.node]
	key := &s.tape[len(s.tape)-1]
	if s.soft && word {
		s.dropKey()
		s.dismiss()
		return true
	}
	if word && !s.noComma && s.splitKey() {
		return true
	}
	if !word && s.stray.node == len(s.tape)-1 && s.stray.end <= int(key.start) && s.unstray() {
		return true
	}
	if (c == ']' || c == ',') && s.rejoinItem() {
		return true
	}
	if obj.count == 0 && c != ']' && top.extra == 0 && top.closer == '}' && (len(s.stack) > 1 || c == ',' || !word) {
		s.makeSet()
		return true
	}
	if word {
		if s.joinWords() {
			return true
		}
		s.repair(repJunk, int(key.start), int(key.end))
		s.dropKey()
		s.st = stObjAfter
		return true
	}
	s.missingValue()
	return true
}

// splitKey makes a key and its value of a key of two words, the second of which is a number or a
// literal: {a 1}.
func (s *scanner) splitKey() bool {
	key := &s.tape[len(s.tape)-1]
	name, value, ok := strings.Cut(s.src[key.start:key.end], " ")
	if value = strings.TrimLeft(value, " "); !ok || !isWord(name) {
		return false
	}
	kind, rep := classifyWord(value)
	if kind == nodeWord {
		return false
	}
	start, end := int(key.end)-len(value), int(key.end)
	key.end = key.start + uint32(len(name))
	s.repair(repMissingQuotes, int(key.start), int(key.end))
	s.repair(repMissingColon, int(key.end), int(key.end))
	flags := uint8(0)
	if rep != repNone {
		s.repair(rep, start, end)
		flags = flagRepaired
	}
	s.leaf(kind, start, end, flags)
	return true
}

// unstray makes a key of the word that was passed over before the current key, which is its
// value: {a "b"}.
func (s *scanner) unstray() bool {
	w := s.stray
	if w.repair >= len(s.repairs) || s.repairs[w.repair].kind != repJunk {
		return false
	}
	s.repairs[w.repair].kind = repMissingQuotes
	s.cost += repairInfo[repMissingQuotes].cost - repairInfo[repJunk].cost
	s.rewrites++
	value := s.tape[w.node]
	s.repair(repMissingColon, w.end, w.end)
	value.flags &^= flagKey
	s.tape[w.node] = node{kind: nodeWord, flags: flagKey | flagRepaired | flagHigh, start: uint32(w.start), end: uint32(w.end), span: 1}
	s.tape = append(s.tape, value)
	s.forget()
	s.soft = false
	s.attached()
	return true
}

// joinWords makes one text of a scalar without quotes and the words behind it: 10 px, and
// 1,234 or hello, world, where the comma belongs to the text.
func (s *scanner) joinWords() bool {
	key := s.tape[len(s.tape)-1]
	last := &s.tape[len(s.tape)-2]
	if len(s.tape) < 3 || s.tape[len(s.tape)-3].flags&flagKey == 0 {
		return false
	}
	if (last.kind >= nodeStr && last.kind != nodeWord) || last.flags&flagKey != 0 || key.start-last.end > 4 || s.furtherIn(len(s.tape)-2) {
		return false
	}
	if s.noComma {
		s.repairs, s.cost = s.repairs[:s.bare.repairs], int(s.bare.cost)
	} else if last.kind != nodeWord && class[s.src[key.start]]&isDigit == 0 {
		return false
	} else {
		s.rewrites++
	}
	last.kind, last.end, last.flags = nodeWord, key.end, flagRepaired|flagHigh
	s.dropKey()
	s.repair(repMissingQuotes, int(last.start), int(last.end))
	s.noComma = false
	s.st = stObjAfter
	return true
}
