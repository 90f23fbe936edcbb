package generable

import "strings"

// comment begins a comment at the current position, if one is there.
func (s *scanner) comment() bool {
	switch {
	case s.src[s.pos] == '#', s.has(s.pos, "//"):
		s.ret, s.st = s.st, stLineComment
	case s.has(s.pos, "/*"):
		s.ret, s.st = s.st, stBlockComment
		s.pos++
	default:
		return false
	}
	s.tok = s.pos
	s.repair(repComment, s.pos, s.pos+1)
	s.pos++
	return true
}

func (s *scanner) lineComment() {
	n := strings.IndexByte(s.src[s.pos:], '\n')
	if n < 0 {
		s.pos = len(s.src)
		return
	}
	s.pos += n
	s.st = s.ret
}

func (s *scanner) blockComment() bool {
	for {
		n := strings.IndexByte(s.src[s.pos:], '*')
		if n < 0 {
			s.pos = len(s.src)
			return true
		}
		s.pos += n
		if !s.wants(2) {
			return false
		}
		if s.has(s.pos, "*/") {
			s.pos += 2
			s.st = s.ret
			return true
		}
		s.pos++
	}
}
