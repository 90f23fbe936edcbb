package generable

// repairKind names a repair of the syntax or a coercion.
type repairKind uint8

const (
	repNone repairKind = iota
	// Where the value was found.
	repFence
	repProse
	repReasoning
	// Syntax.
	repTrailingComma
	repExtraComma
	repMissingComma
	repMissingColon
	repOddColon
	repFullWidth
	repBlank
	repMissingValue
	repMissingQuote
	repMissingQuotes
	repInnerQuote
	repQuotes
	repControl
	repEscape
	repUTF8
	repEscaped
	repLiteral
	repNumber
	repComment
	repEllipsis
	repConcat
	repCall
	repJunk
	repBraces
	repSet
	repExtraCloser
	repMissingCloser
	repWrongCloser
	repTruncated
	repDuplicateKey
	repSequence
	repMore // those beyond the first maxRepairs, as one
	repBrackets
	// Coercions.
	repIntToFloat
	repFloatToInt
	repToString
	repToNumber
	repToBool
	repStringified
	repEnumFold
	repEnumFind
	repKeyFold
	repAlias
	repTagFold
	repOuterTag
	repBareTag
	repNoTag
	repBestFit
	repExtraKey
	repNullDefault
	repBadDefault
	repEmptyDefault
	repMissingNull
	repSingleToList
	repListToSingle
	repUnwrap
	repPositional
	repImplied
	repDropItem
	repKeepItem
	repRound
	repFound
)

// repairInfo names the kinds and gives their cost. It is read only.
var repairInfo = [...]struct {
	name string
	cost int
}{
	repNone:          {"", 0},
	repFence:         {"fence", 0},
	repProse:         {"prose", 0},
	repReasoning:     {"reasoning", 0},
	repTrailingComma: {"trailing-comma", 1},
	repExtraComma:    {"extra-comma", 1},
	repMissingComma:  {"missing-comma", 2},
	repMissingColon:  {"missing-colon", 3},
	repOddColon:      {"odd-colon", 1},
	repFullWidth:     {"full-width", 1},
	repBlank:         {"odd-blank", 1},
	repBrackets:      {"missing-brackets", 4},
	repMissingValue:  {"missing-value", 5},
	repMissingQuote:  {"missing-quote", 4},
	repMissingQuotes: {"unquoted", 3},
	repInnerQuote:    {"unescaped-quote", 2},
	repQuotes:        {"quotes", 1},
	repControl:       {"control-character", 1},
	repEscape:        {"bad-escape", 2},
	repUTF8:          {"invalid-utf8", 2},
	repEscaped:       {"escaped-document", 2},
	repLiteral:       {"python-literal", 1},
	repNumber:        {"number-syntax", 1},
	repComment:       {"comment", 1},
	repEllipsis:      {"ellipsis", 2},
	repConcat:        {"concatenation", 2},
	repCall:          {"call", 2},
	repJunk:          {"junk", 5},
	repBraces:        {"doubled-brace", 2},
	repSet:           {"set-literal", 4},
	repExtraCloser:   {"extra-closer", 2},
	repMissingCloser: {"missing-closer", 3},
	repWrongCloser:   {"wrong-closer", 3},
	repTruncated:     {"truncated", 5},
	repDuplicateKey:  {"duplicate-key", 1},
	repSequence:      {"sequence", 1},
	repMore:          {"more-repairs", 0},

	repIntToFloat:   {"int-to-float", 0},
	repFloatToInt:   {"float-to-int", 1},
	repToString:     {"to-string", 2},
	repToNumber:     {"string-to-number", 2},
	repToBool:       {"to-bool", 2},
	repStringified:  {"stringified", 2},
	repEnumFold:     {"enum-fold", 1},
	repEnumFind:     {"enum-find", 4},
	repKeyFold:      {"key-fold", 1},
	repAlias:        {"alias", 0},
	repTagFold:      {"tag-fold", 1},
	repOuterTag:     {"outer-tag", 1},
	repBareTag:      {"bare-tag", 1},
	repNoTag:        {"missing-tag", 6},
	repBestFit:      {"best-fit", 2},
	repExtraKey:     {"extra-key", 1},
	repNullDefault:  {"null-to-default", 1},
	repBadDefault:   {"bad-to-default", 8},
	repEmptyDefault: {"missing-to-empty", 8},
	repMissingNull:  {"missing-to-null", 1},
	repSingleToList: {"single-to-list", 2},
	repListToSingle: {"list-to-single", 3},
	repUnwrap:       {"unwrap", 2},
	repPositional:   {"list-to-fields", 4},
	repImplied:      {"implied-field", 4},
	repDropItem:     {"drop-item", 5},
	repKeepItem:     {"keep-item", 5},
	repRound:        {"round", 4},
	repFound:        {"found-in-text", 4},
}

func (k repairKind) String() string { return repairInfo[k].name }

// RepairKinds lists the kinds of repairs.
func RepairKinds() []string {
	names := make([]string, 0, len(repairInfo)-1)
	for _, info := range repairInfo[1:] {
		names = append(names, info.name)
	}
	return names
}

// synRepair is a repair of the syntax, as the scanner records it.
type synRepair struct {
	kind     repairKind
	off, end uint32
	node     uint32 // number of nodes on the tape at that moment
}

// maxRepairs bounds the records of one candidate; its cost counts them all.
const maxRepairs = 2000

// repair records a change of the syntax over the bytes from off to end.
func (s *scanner) repair(kind repairKind, off, end int) {
	s.cost += repairInfo[kind].cost
	s.cand.broken = true
	if len(s.repairs)-s.cand.repairs < maxRepairs {
		s.repairs = append(s.repairs, synRepair{kind, uint32(off), uint32(end), uint32(len(s.tape))})
	}
}
