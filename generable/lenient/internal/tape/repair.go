package tape

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
	Name string
	Cost int
}{
	RepNone:          {"", 0},
	RepFence:         {"fence", 0},
	RepProse:         {"prose", 0},
	RepReasoning:     {"reasoning", 0},
	repTrailingComma: {"trailing-comma", 1},
	repExtraComma:    {"extra-comma", 1},
	RepMissingComma:  {"missing-comma", 2},
	RepMissingColon:  {"missing-colon", 3},
	RepOddColon:      {"odd-colon", 1},
	RepFullWidth:     {"full-width", 1},
	RepBlank:         {"odd-blank", 1},
	RepBrackets:      {"missing-brackets", 4},
	RepMissingValue:  {"missing-value", 5},
	RepMissingQuote:  {"missing-quote", 4},
	RepMissingQuotes: {"unquoted", 3},
	RepInnerQuote:    {"unescaped-quote", 2},
	RepQuotes:        {"quotes", 1},
	repControl:       {"control-character", 1},
	RepEscape:        {"bad-escape", 2},
	RepUTF8:          {"invalid-utf8", 2},
	RepEscaped:       {"escaped-document", 2},
	RepLiteral:       {"python-literal", 1},
	RepNumber:        {"number-syntax", 1},
	RepComment:       {"comment", 1},
	repEllipsis:      {"ellipsis", 2},
	repConcat:        {"concatenation", 2},
	repCall:          {"call", 2},
	repJunk:          {"junk", 5},
	repBraces:        {"doubled-brace", 2},
	RepSet:           {"set-literal", 4},
	repExtraCloser:   {"extra-closer", 2},
	repMissingCloser: {"missing-closer", 3},
	RepWrongCloser:   {"wrong-closer", 3},
	RepTruncated:     {"truncated", 5},
	RepDuplicateKey:  {"duplicate-key", 1},
	RepSequence:      {"sequence", 1},
	RepMore:          {"more-repairs", 0},

	RepIntToFloat:   {"int-to-float", 0},
	RepFloatToInt:   {"float-to-int", 1},
	RepToString:     {"to-string", 2},
	RepToNumber:     {"string-to-number", 2},
	RepToBool:       {"to-bool", 2},
	RepStringified:  {"stringified", 2},
	RepEnumFold:     {"enum-fold", 1},
	RepEnumFind:     {"enum-find", 4},
	RepKeyFold:      {"key-fold", 1},
	RepAlias:        {"alias", 0},
	RepTagFold:      {"tag-fold", 1},
	RepOuterTag:     {"outer-tag", 1},
	RepBareTag:      {"bare-tag", 1},
	RepNoTag:        {"missing-tag", 6},
	RepBestFit:      {"best-fit", 2},
	RepExtraKey:     {"extra-key", 1},
	RepNullDefault:  {"null-to-default", 1},
	RepBadDefault:   {"bad-to-default", 8},
	RepEmptyDefault: {"missing-to-empty", 8},
	RepMissingNull:  {"missing-to-null", 1},
	RepSingleToList: {"single-to-list", 2},
	RepListToSingle: {"list-to-single", 3},
	RepUnwrap:       {"unwrap", 2},
	RepPositional:   {"list-to-fields", 4},
	RepImplied:      {"implied-field", 4},
	RepDropItem:     {"drop-item", 5},
	RepKeepItem:     {"keep-item", 5},
	RepRound:        {"round", 4},
	RepFound:        {"found-in-text", 4},
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
