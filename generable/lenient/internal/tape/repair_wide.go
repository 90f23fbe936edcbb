package tape

// Fold returns the ASCII sign that a wide one at offset p stands for, 0 when there is none.
func (s *Scanner) Fold(p int) byte {
	if len(s.Src)-p < 3 {
		return 0
	}
	switch s.Src[p : p+3] {
	case "｛":
		return '{'
	case "｝":
		return '}'
	case "［":
		return '['
	case "］":
		return ']'
	case "（":
		return '('
	case "）":
		return ')'
	case "，", "、":
		return ','
	case "：":
		return ':'
	case "；":
		return ';'
	case "＝":
		return '='
	}
	return 0
}

// widened records the wide form of the sign c and goes to its last byte, as if it had one.
func (s *Scanner) widened(c byte) {
	kind := RepFullWidth
	if c == ':' || c == '=' {
		kind = RepOddColon
	}
	s.repair(kind, s.Pos, s.Pos+3)
	s.Pos += 2
}

// wide reads the wide form of the sign c as that sign. All that may be looked at behind it has
// to be there before the first of its bytes is passed over.
func (s *Scanner) wide(c byte) bool {
	if !s.wants(2 * maxAhead) {
		return false
	}
	s.widened(c)
	return s.token(c)
}
