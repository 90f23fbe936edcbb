package tape

// This file distinguishes sets, {"a", "b"}, from objects.

// makeSet makes a list of the object of which the only key so far has no value.
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

// unset makes an object again of what was taken for a set, {"a", "b": 1}, when a colon
// follows its last item: the others are keys without values.
func (s *Scanner) unset() bool {
	top := s.top()
	at := int(top.node)
	items := s.Tape[at+1:]
	n := len(items)
	if top.closer != '}' || top.obj || n != int(s.Tape[at].Count) || n == 0 || items[n-1].Kind != NodeStr && items[n-1].Kind != NodeWord || !s.pay(2*n) {
		return false
	}
	for _, item := range items {
		if item.Span != 1 {
			return false
		}
	}
	for range n - 1 {
		s.Tape = append(s.Tape, Node{})
	}
	items = s.Tape[at+1:]
	for i := n - 1; i >= 0; i-- {
		items[2*i] = items[i]
		items[2*i].Flags |= FlagKey | FlagRepaired
		if end := items[2*i].End; i < n-1 {
			items[2*i+1] = Node{Kind: NodeMissing, Flags: FlagRepaired, Start: end, End: end, Span: 1}
			s.repair(RepMissingValue, int(end), int(end))
		}
	}
	s.Rewrites++
	s.Tape[at].Kind, s.Tape[at].Count = NodeObj, uint32(n-1)
	top.obj = true
	return true
}

// unkey makes an item of a key.
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
