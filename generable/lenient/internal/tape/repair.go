package tape

import "strings"

// RepairKind names a repair of the syntax or a coercion.
type RepairKind uint8

const (
	RepNone RepairKind = iota
	// Where the value was found.
	RepFence
	RepProse
	RepReasoning
	// Syntax.
	repTrailingComma
	repExtraComma
	RepMissingComma
	RepMissingColon
	RepOddColon
	RepFullWidth
	RepBlank
	RepMissingValue
	RepMissingQuote
	RepMissingQuotes
	RepInnerQuote
	RepQuotes
	repControl
	RepEscape
	RepUTF8
	RepEscaped
	RepLiteral
	RepNumber
	RepComment
	repEllipsis
	repConcat
	repCall
	repJunk
	repBraces
	RepSet
	repExtraCloser
	repMissingCloser
	RepWrongCloser
	RepTruncated
	RepDuplicateKey
	RepSequence
	RepMore // those beyond the first MaxRepairs, as one
	RepBrackets
	// Coercions.
	RepIntToFloat
	RepFloatToInt
	RepToString
	RepToNumber
	RepToBool
	RepStringified
	RepEnumFold
	RepEnumFind
	RepKeyFold
	RepAlias
	RepTagFold
	RepOuterTag
	RepBareTag
	RepNoTag
	RepBestFit
	RepExtraKey
	RepNullDefault
	RepBadDefault
	RepEmptyDefault
	RepMissingNull
	RepSingleToList
	RepListToSingle
	RepUnwrap
	RepPositional
	RepImplied
	RepDropItem
	RepKeepItem
	RepRound
	RepFound
)

// RepairInfo names the kinds and gives their cost. It is read only.
var RepairInfo = [...]struct {
	Name  string
	Cost  int
	After string // what the text before it is read as; "" where that depends on the text
}{
	RepNone:          {"", 0, ""},
	RepFence:         {"fence", 0, ""},
	RepProse:         {"prose", 0, ""},
	RepReasoning:     {"reasoning", 0, ""},
	repTrailingComma: {"trailing-comma", 1, ""},
	repExtraComma:    {"extra-comma", 1, ""},
	RepMissingComma:  {"missing-comma", 2, ","},
	RepMissingColon:  {"missing-colon", 3, ":"},
	RepOddColon:      {"odd-colon", 1, ":"},
	RepFullWidth:     {"full-width", 1, ""},
	RepBlank:         {"odd-blank", 1, " "},
	RepBrackets:      {"missing-brackets", 4, ""},
	RepMissingValue:  {"missing-value", 5, "null"},
	RepMissingQuote:  {"missing-quote", 4, `"`},
	RepMissingQuotes: {"unquoted", 3, ""},
	RepInnerQuote:    {"unescaped-quote", 2, `\"`},
	RepQuotes:        {"quotes", 1, `"`},
	repControl:       {"control-character", 1, ""},
	RepEscape:        {"bad-escape", 2, ""},
	RepUTF8:          {"invalid-utf8", 2, ""},
	RepEscaped:       {"escaped-document", 2, `"`},
	RepLiteral:       {"python-literal", 1, ""},
	RepNumber:        {"number-syntax", 1, ""},
	RepComment:       {"comment", 1, ""},
	repEllipsis:      {"ellipsis", 2, ""},
	repConcat:        {"concatenation", 2, ""},
	repCall:          {"call", 2, ""},
	repJunk:          {"junk", 5, ""},
	repBraces:        {"doubled-brace", 2, ""},
	RepSet:           {"set-literal", 4, "["},
	repExtraCloser:   {"extra-closer", 2, ""},
	repMissingCloser: {"missing-closer", 3, ""},
	RepWrongCloser:   {"wrong-closer", 3, ""},
	RepTruncated:     {"truncated", 5, ""},
	RepDuplicateKey:  {"duplicate-key", 1, ""},
	RepSequence:      {"sequence", 1, ""},
	RepMore:          {"more-repairs", 0, ""},

	RepIntToFloat:   {"int-to-float", 0, ""},
	RepFloatToInt:   {"float-to-int", 1, ""},
	RepToString:     {"to-string", 2, ""},
	RepToNumber:     {"string-to-number", 2, ""},
	RepToBool:       {"to-bool", 2, ""},
	RepStringified:  {"stringified", 2, ""},
	RepEnumFold:     {"enum-fold", 1, ""},
	RepEnumFind:     {"enum-find", 4, ""},
	RepKeyFold:      {"key-fold", 1, ""},
	RepAlias:        {"alias", 0, ""},
	RepTagFold:      {"tag-fold", 1, ""},
	RepOuterTag:     {"outer-tag", 1, ""},
	RepBareTag:      {"bare-tag", 1, ""},
	RepNoTag:        {"missing-tag", 6, ""},
	RepBestFit:      {"best-fit", 2, ""},
	RepExtraKey:     {"extra-key", 1, ""},
	RepNullDefault:  {"null-to-default", 1, ""},
	RepBadDefault:   {"bad-to-default", 8, ""},
	RepEmptyDefault: {"missing-to-empty", 8, ""},
	RepMissingNull:  {"missing-to-null", 1, ""},
	RepSingleToList: {"single-to-list", 2, ""},
	RepListToSingle: {"list-to-single", 3, ""},
	RepUnwrap:       {"unwrap", 2, ""},
	RepPositional:   {"list-to-fields", 4, ""},
	RepImplied:      {"implied-field", 4, ""},
	RepDropItem:     {"drop-item", 5, ""},
	RepKeepItem:     {"keep-item", 5, ""},
	RepRound:        {"round", 4, ""},
	RepFound:        {"found-in-text", 4, ""},
}

func (k RepairKind) String() string { return RepairInfo[k].Name }

// SynRepair is a repair of the syntax, as the scanner records it.
type SynRepair struct {
	Kind     RepairKind
	Off, End uint32
	Node     uint32 // number of nodes on the tape at that moment
}

// MaxRepairs bounds the records of one candidate; its cost counts them all.
const MaxRepairs = 2000

// repair records a change of the syntax over the bytes from off to end.
func (s *Scanner) repair(kind RepairKind, off, end int) {
	s.cost += RepairInfo[kind].Cost
	s.Cand.Broken = true
	if len(s.Repairs)-s.Cand.Repairs < MaxRepairs {
		s.Repairs = append(s.Repairs, SynRepair{kind, uint32(off), uint32(end), uint32(len(s.Tape))})
	}
}

// odd reads the byte c, which JSON does not allow where a token begins or ends.
func (s *Scanner) odd(c byte) bool {
	if !s.wants(4) {
		return false
	}
	key := s.St == stObjFirst || s.St == stObjNext
	if c >= 0x80 {
		if s.oddBlank() {
			return true
		}
		switch f := s.Fold(s.Pos); {
		case f == 0, key && s.Soft:
		case s.St != stColon:
			return s.wide(f)
		case f == ':', f == '=':
			return s.wide(':')
		}
	}
	switch {
	case key:
		return s.oddKey(c)
	case s.St == stColon:
		return s.oddColon(c)
	case s.St == stArrAfter, s.St == stObjAfter:
		return s.oddAfter(c)
	}
	return s.oddValue(c)
}

// aside passes over what may be put between any two tokens: a comment, an ellipsis. The end of
// an element around the value is the end of the value.
func (s *Scanner) aside(c byte) bool {
	switch c {
	case '/', '#':
		return s.comment()
	case '.', 0xe2:
		return s.ellipsis()
	case '<':
		return s.has(s.Pos, "</") && s.endRegion(s.Pos)
	}
	return false
}

// upTo is the text before offset end.
func (s *Scanner) upTo(end int) string { return s.Src[:min(len(s.Src), end)] }

// skipBlanks returns the offset of the first byte from p on that is no blank.
func skipBlanks(src string, p int) int {
	for p < len(src) && Class[src[p]]&IsBlank != 0 {
		p++
	}
	return p
}

// trimBefore returns where the text before offset p ends, without blanks and not before from.
func (s *Scanner) trimBefore(from, p int) int {
	for p > from && Class[s.Src[p-1]]&IsBlank != 0 {
		p--
	}
	return p
}

// pastColon returns the offset behind blanks and a colon at p, -1 when there is no colon.
func pastColon(src string, p int) int {
	if p = skipBlanks(src, p); p == len(src) || src[p] != ':' {
		return -1
	}
	return p + 1
}

// wideSigns are the wide forms of narrowSigns, of three bytes each.
const (
	wideSigns   = "｛｝［］（），、：；＝"
	narrowSigns = "{}[](),,:;="
)

// Fold returns the ASCII sign that a wide one at offset p stands for, 0 when there is none.
func (s *Scanner) Fold(p int) byte {
	if len(s.Src)-p < 3 {
		return 0
	}
	i := strings.Index(wideSigns, s.Src[p:p+3])
	if i < 0 || i%3 != 0 {
		return 0
	}
	return narrowSigns[i/3]
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
