package generable

import "strings"

// maxFenceOpen bounds the bytes looked at to recognise a fence around a value.
const maxFenceOpen = 32

// innerFence reads the ticks of a fence that stands inside of brackets, around a value, as in
// [```json {"a": 1} ```]. The second result tells that more text is needed.
func (s *scanner) innerFence() (ok, more bool) {
	p := s.pos
	if !s.wants(maxFenceOpen) {
		return false, true
	}
	if !s.has(p, "```") {
		return false, false
	}
	text := s.src[p:min(len(s.src), p+maxFenceOpen)]
	body := strings.TrimLeft(text, "`")
	tag := body[:skipName(body, 0, false)]
	body = strings.TrimLeft(body[len(tag):], " \t\r\n")
	top := &s.stack[len(s.stack)-1]
	if body != "" && isJSONTag(tag) && !(tag == "" && s.inFence && s.beginsLine(p)) {
		c := body[0]
		inner := len(text) - len(body)
		switch {
		case c != '{' && c != '[' && (c != '(' || s.st == stObjFirst) && (c != '"' || !top.obj):
		case !top.obj || s.st == stObjValue:
			if len(s.stack) == 1 && int(s.tape[top.node].start)+1 == p {
				s.wrapTop(wrapCall) // [``` and ```] are no list
			}
			s.openFence(inner)
			return true, false
		case c == '"':
			s.openFence(inner)
			return true, false
		case s.st == stObjFirst && c == '{':
			top.obj = false
			s.wrapTop(wrapCall)
			s.tape[top.node].kind = nodeArr
			s.openFence(inner)
			s.st = stArrFirst
			return true, false
		}
	}
	return s.closeFence(), false
}

func (s *scanner) openFence(n int) {
	s.soft = false
	s.inner++
	s.skipAs(repFence, n)
}

// closeFence passes over the ticks that end a fence inside of brackets.
func (s *scanner) closeFence() bool {
	if s.inner == 0 || !s.has(s.pos, "```") {
		return false
	}
	s.inner--
	s.skipAs(repFence, 3)
	return true
}

// isJSONTag reports whether a fence's language says that its content is a value.
func isJSONTag(tag string) bool {
	switch strings.ToLower(tag) {
	case "", "json", "json5", "jsonc", "javascript", "js":
		return true
	}
	return false
}
