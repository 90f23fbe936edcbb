package generable

// This file tells sets, {"a", "b"}, from objects.

// makeSet makes a list of the object of which the only key so far has no value.
func (s *scanner) makeSet() {
	top := &s.stack[len(s.stack)-1]
	obj := &s.tape[top.node]
	key := &s.tape[len(s.tape)-1]
	s.repair(repSet, int(obj.start), int(obj.start)+1)
	obj.kind, top.obj = nodeArr, false
	s.unkey(key)
	s.soft = false
	s.forget()
	s.attached()
}

// unset makes an object again of what was taken for a set, {"a", "b": 1}, when a colon
// follows its last item: the others are keys without values.
func (s *scanner) unset() bool {
	top := &s.stack[len(s.stack)-1]
	at := int(top.node)
	items := s.tape[at+1:]
	n := len(items)
	if top.closer != '}' || top.obj || n != int(s.tape[at].count) || n == 0 || items[n-1].kind != nodeStr && items[n-1].kind != nodeWord || !s.pay(2*n) {
		return false
	}
	for _, item := range items {
		if item.span != 1 {
			return false
		}
	}
	for range n - 1 {
		s.tape = append(s.tape, node{})
	}
	items = s.tape[at+1:]
	for i := n - 1; i >= 0; i-- {
		items[2*i] = items[i]
		items[2*i].flags |= flagKey | flagRepaired
		if end := items[2*i].end; i < n-1 {
			items[2*i+1] = node{kind: nodeMissing, flags: flagRepaired, start: end, end: end, span: 1}
			s.repair(repMissingValue, int(end), int(end))
		}
	}
	s.rewrites++
	s.tape[at].kind, s.tape[at].count = nodeObj, uint32(n-1)
	top.obj = true
	return true
}

// unkey makes an item of a key.
func (s *scanner) unkey(key *node) {
	key.flags &^= flagKey
	if key.kind != nodeWord {
		return
	}
	kind, rep := classifyWord(s.src[key.start:key.end])
	if key.kind = kind; kind == nodeWord {
		rep = repMissingQuotes
	}
	if rep != repNone {
		s.repair(rep, int(key.start), int(key.end))
	}
}
