package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// RepairKind identifies a repair of the syntax or a coercion. It is an index into RepairInfo.
type RepairKind uint8

// RepairInfo holds the names and costs of the kinds, in the order of the declarations below. It is read-only.
var RepairInfo []repairInfo

type repairInfo struct {
	Name  string
	Cost  int
	After string // what the original text is read as; "" if that depends on the text
}

// repairKind declares the next kind. No other function adds one, so that the declarations below have fixed indexes.
//
//go:noinline
func repairKind(name string, cost int, after string) RepairKind {
	RepairInfo = append(RepairInfo, repairInfo{name, cost, after})
	return RepairKind(len(RepairInfo) - 1)
}

var (
	RepNone = repairKind("", 0, "")
	// Where the value was found.
	RepFence     = repairKind("fence", 0, "")
	RepProse     = repairKind("prose", 0, "")
	RepReasoning = repairKind("reasoning", 0, "")
	RepNotChosen = repairKind("not-chosen", 0, "") // a value other than the chosen one
	RepDropped   = repairKind("dropped", 8, "")    // other content of its structure
	// Syntax.
	RepTrailingComma = repairKind("trailing-comma", 1, "")
	repExtraComma    = repairKind("extra-comma", 1, "")
	RepMissingComma  = repairKind("missing-comma", 2, ",")
	RepMissingColon  = repairKind("missing-colon", 3, ":")
	RepOddColon      = repairKind("odd-colon", 1, ":")
	RepFullWidth     = repairKind("full-width", 1, "")
	RepBlank         = repairKind("odd-blank", 1, " ")
	RepMissingValue  = repairKind("missing-value", 5, "null")
	RepMissingQuote  = repairKind("missing-quote", 4, `"`)
	RepMissingQuotes = repairKind("unquoted", 3, "")
	RepInnerQuote    = repairKind("unescaped-quote", 2, `\"`)
	RepQuotes        = repairKind("quotes", 1, `"`)
	repControl       = repairKind("control-character", 1, "")
	RepEscape        = repairKind("bad-escape", 2, "")
	RepUTF8          = repairKind("invalid-utf8", 2, "")
	RepEscaped       = repairKind("escaped-document", 2, `"`)
	RepLiteral       = repairKind("python-literal", 1, "")
	RepNumber        = repairKind("number-syntax", 1, "")
	RepComment       = repairKind("comment", 1, "")
	repEllipsis      = repairKind("ellipsis", 2, "")
	repConcat        = repairKind("concatenation", 2, "")
	repCall          = repairKind("call", 2, "")
	repJunk          = repairKind("junk", 5, "")
	repBraces        = repairKind("doubled-brace", 2, "")
	RepSet           = repairKind("set-literal", 4, "[")
	RepExtraCloser   = repairKind("extra-closer", 2, "")
	repMissingCloser = repairKind("missing-closer", 3, "")
	RepWrongCloser   = repairKind("wrong-closer", 3, "")
	RepTruncated     = repairKind("truncated", 5, "")
	RepDuplicateKey  = repairKind("duplicate-key", 1, "")
	RepSequence      = repairKind("sequence", 1, "")
	RepMore          = repairKind("more-repairs", 0, "") // those beyond the first MaxRepairs, combined
	RepBrackets      = repairKind("missing-brackets", 4, "")
	// Coercions.
	RepIntToFloat   = repairKind("int-to-float", 0, "")
	RepFloatToInt   = repairKind("float-to-int", 1, "")
	RepToString     = repairKind("to-string", 2, "")
	RepToNumber     = repairKind("string-to-number", 2, "")
	RepToBool       = repairKind("to-bool", 2, "")
	RepStringified  = repairKind("stringified", 2, "")
	RepEnumFold     = repairKind("enum-fold", 1, "")
	RepEnumFind     = repairKind("enum-find", 4, "")
	RepKeyFold      = repairKind("key-fold", 1, "")
	RepAlias        = repairKind("alias", 0, "")
	RepTagFold      = repairKind("tag-fold", 1, "")
	RepOuterTag     = repairKind("outer-tag", 1, "")
	RepBareTag      = repairKind("bare-tag", 1, "")
	RepNoTag        = repairKind("missing-tag", 6, "")
	RepBestFit      = repairKind("best-fit", 2, "")
	RepExtraKey     = repairKind("extra-key", 1, "")
	RepNullDefault  = repairKind("null-to-default", 1, "")
	RepBadDefault   = repairKind("bad-to-default", 8, "")
	RepEmptyDefault = repairKind("missing-to-empty", 8, "")
	RepMissingNull  = repairKind("missing-to-null", 1, "")
	RepSingleToList = repairKind("single-to-list", 2, "")
	RepListToSingle = repairKind("list-to-single", 3, "")
	RepUnwrap       = repairKind("unwrap", 2, "")
	RepPositional   = repairKind("list-to-fields", 4, "")
	RepImplied      = repairKind("implied-field", 4, "")
	RepDropItem     = repairKind("drop-item", 5, "")
	RepKeepItem     = repairKind("keep-item", 5, "")
	RepRound        = repairKind("round", 4, "")
	RepFound        = repairKind("found-in-text", 4, "")
	RepDedent       = repairKind("dedent", 0, "")
)

// oddities maps the oddities of words that JSON writes differently to repairs.
var oddities = [...]RepairKind{lex.Plain: RepNone, lex.Foreign: RepLiteral, lex.OddNumber: RepNumber, lex.Cut: RepTruncated}

// ClassifyWord reports what an unquoted word stands for, and which repair that takes.
func ClassifyWord(w string) (nodeKind, RepairKind) {
	kind, odd := lex.Classify(w)
	return kind, oddities[odd]
}

func (k RepairKind) String() string { return RepairInfo[k].Name }

// SynRepair is a recorded repair of the syntax by the scanner.
type SynRepair struct {
	Kind     RepairKind
	Off, End uint32
	Node     uint32 // number of nodes on the tape at that time
}

// MaxRepairs bounds the records of one candidate; its cost covers all repairs.
const MaxRepairs = 2000

// repair records a change of the syntax over the bytes from off to end.
//
//go:noinline
func (s *Scanner) repair(kind RepairKind, off, end int) {
	s.cost += RepairInfo[kind].Cost
	s.Cand.Broken = true
	if len(s.Repairs)-int(s.Cand.Repairs) < MaxRepairs {
		s.Repairs = append(s.Repairs, SynRepair{kind, uint32(off), uint32(end), uint32(len(s.Tape))})
	}
}

// odd reads the byte c, which JSON does not allow at the beginning or end of a token.
func (s *Scanner) odd(c byte) bool {
	letter := c < 0x80 && lex.Class[c]&lex.IsIdent != 0 && strings.IndexByte(".-rRbBfFuU", c) < 0 // and it cannot begin r"a"
	if (!letter || s.Soft || s.St != stArrNext && s.St != stObjValue) && !s.wants(4) {
		return false
	}
	key := s.St == stObjFirst || s.St == stObjNext
	if c >= 0x80 {
		if n := lex.OddBlankAt(s.Src, s.Pos); n > 0 {
			return s.skipAs(RepBlank, n)
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

// aside skips what may appear between any two tokens: a comment, an ellipsis. The end of an element around the value
// is the end of the value.
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

// upTo returns the text before offset end.
func (s *Scanner) upTo(end int) string { return s.Src[:min(len(s.Src), end)] }

// trimBefore returns the end of the text before offset p without trailing blanks, but not less than from.
func (s *Scanner) trimBefore(from, p int) int {
	for p > from && lex.Class[s.Src[p-1]]&lex.IsBlank != 0 {
		p--
	}
	return p
}

// pastColon returns the offset after the blanks and the colon at p, or after another sign in its place, which may
// only follow keys in quotes. It returns -1 without one.
func (s *Scanner) pastColon(p int, quoted bool) int {
	src := s.upTo(p + MaxGap)
	if p = lex.PastGap(src, p); p >= len(src) {
		return -1
	}
	switch c := src[p]; {
	case c == ':':
		return p + 1
	case s.Fold(p) == ':':
		return p + 3
	case quoted && (s.has(p, "=>") || s.has(p, "->")):
		return p + 2
	case quoted && c == '=' && !s.has(p, "=="):
		return p + 1
	}
	return -1
}

// Fold returns the ASCII sign for the full-width sign at offset p, or 0 without one.
func (s *Scanner) Fold(p int) byte {
	return lex.Fold(s.Src, p)
}

// widened records the full-width form of the sign c and moves to its last byte, as if it had one.
func (s *Scanner) widened(c byte) {
	kind := RepFullWidth
	if c == ':' || c == '=' {
		kind = RepOddColon
	}
	s.repair(kind, s.Pos, s.Pos+3)
	s.Pos += 2
}

// wide reads the full-width form of the sign c as that sign. All text that may be examined after it must have arrived
// before its first byte is skipped.
func (s *Scanner) wide(c byte) bool {
	if !s.wants(2 * maxAhead) {
		return false
	}
	if s.St == stObjValue && strings.IndexByte(",;}])", c) >= 0 {
		return s.missingValue()
	}
	s.widened(c)
	return s.token(c)
}
