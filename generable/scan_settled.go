package generable

// between is the state between tokens that the automaton is in or, inside a comment, returns to.
func (s *scanner) between() scanState {
	if s.st == stLineComment || s.st == stBlockComment {
		return s.ret
	}
	return s.st
}

// afterColon reports whether the automaton stands behind a key and a colon, or in the word that
// follows them.
func (s *scanner) afterColon() bool {
	if s.st == stWord || s.st == stWordQuote {
		return !s.wordKey
	}
	return s.between() == stObjValue
}

// settled returns the tape index up to which nodes are certain: those behind it may still be
// taken back. Containers count as what they are, closed or not.
func (s *scanner) settled() int {
	// Where there is none of these it is -1, which as an unsigned number is the largest.
	edge := int(min(uint(len(s.tape)), uint(int(s.lastStr.node)), uint(int(s.tentStr.node)), uint(s.lastConcat), uint(s.concat)))
	if s.noComma { // the words that follow may belong to the value before them
		edge = min(edge, len(s.tape)-2)
	}
	return edge
}

// tentative reports whether the container at tape index at may still vanish around its value:
// parentheses do.
func (s *scanner) tentative(at int) bool { return s.wrapAt >= 0 && at >= s.wrapAt }

// afterLeaf reports whether the automaton stands behind a value, of which what follows may
// still make a longer one.
func (s *scanner) afterLeaf() bool {
	switch s.between() {
	case stArrAfter, stObjAfter, stWordQuote, stConcat:
		return true
	}
	return s.st == stWord && s.noComma
}

// certainRepairs is how many of the repairs made so far are not taken back any more.
func (s *scanner) certainRepairs() int {
	n := len(s.repairs)
	for _, m := range [...]*marker{&s.lastStr, &s.tentStr} {
		if m.node >= 0 {
			n = min(n, int(m.repairs))
		}
	}
	if s.noComma {
		n = min(n, int(s.bare.repairs))
	}
	if s.soft {
		n = min(n, s.cand.repairs)
	}
	return n
}
