package pythonisms

import "strings"

// The precedence of operators, as in Starlark.
const (
	pOr = 1 + iota
	pAnd
	pNot
	pCompare
	pPipe
	pCaret
	pAmp
	pShift
	pAdd
	pMul
	pPower // Python only
)

// binding returns the precedence of an operator between two operands, or 0 for any other token.
//
//go:noinline
func binding(t *token) int {
	if t.kind != kOp && t.kind != kName {
		return 0
	}
	switch t.text {
	case "or", "||":
		return pOr
	case "and", "&&":
		return pAnd
	case "not":
		return pNot
	case "<", ">", "<=", ">=", "==", "!=", "<>", "===", "!==", "in", "is":
		return pCompare
	case "|":
		return pPipe
	case "^":
		return pCaret
	case "&":
		return pAmp
	case "<<", ">>":
		return pShift
	case "+", "-":
		return pAdd
	case "*", "/", "//", "%":
		return pMul
	case "**":
		return pPower
	}
	return 0
}

// ends reports whether an operand can end with t.
func ends(t *token) bool {
	return t.kind == kNumber || t.kind == kString || t.closes() || t.kind == kName && !keywords[t.text]
}

// starts reports whether an operand can start with t.
func starts(t *token) bool {
	return t.kind == kNumber || t.kind == kString || t.opens() ||
		t.kind == kName && (!keywords[t.text] || t.text == "lambda" || t.text == "not")
}

// breaks reports whether t ends every operand next to it.
func breaks(t *token) bool {
	switch t.kind {
	case kNewline, kEOF:
		return true
	case kName:
		return keywords[t.text] && t.text != "not" && t.text != "lambda" && binding(t) == 0
	case kOp:
		switch t.text {
		case ",", "=", ";", ":=", "->", "=>", "?", "@", "+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**=":
			return true
		case ":":
			return !t.lambda
		}
	}
	return false
}

// The bounds, in tokens, on how far a finding looks around, so that a file full of findings is still read in linear
// time. A remedy that repeats more than longest tokens of an operand would not help.
const (
	longest  = 150
	farthest = 1000
)

// left finds the start of the operand before token i, which is an operator with precedence p. ok is false if there is
// none.
func (f *file) left(i, p int) (start int, ok bool) {
	first := f.stmts[f.toks[i].stmt].first
	start = i
	for start > first {
		if i-start > longest {
			return start, false
		}
		t := &f.toks[start-1]
		if t.closes() {
			if t.match < first {
				break
			}
			start = t.match
			continue
		}
		if t.opens() || t.is(":") || breaks(t) {
			break
		}
		if b := binding(t); b > 0 && b <= p && (b == pNot || start-1 > first && ends(&f.toks[start-2])) {
			break
		}
		if t.is("is") || t.is("in") || start < i && sideBySide(t, &f.toks[start]) {
			break
		}
		start--
	}
	return start, start < i
}

// sideBySide reports whether two operands follow each other without an operator, which only happens across the end of
// an expression.
func sideBySide(t, next *token) bool {
	return ends(t) && starts(next) && !next.opens() && next.text != "not" && (t.kind != kString || next.kind != kString)
}

// right finds the end of the operand that begins at token i, for an operator
// of precedence p.
func (f *file) right(i, p int) (end int, ok bool) {
	if i >= len(f.toks) {
		return i, false
	}
	last := f.stmts[f.toks[i].stmt].last
	end = i
	for end < last {
		if end-i > longest {
			return end, false
		}
		t := &f.toks[end]
		if t.opens() {
			if t.match < 0 || t.match >= last {
				return end, false
			}
			end = t.match + 1
			continue
		}
		if t.closes() || breaks(t) {
			break
		}
		if b := binding(t); b > 0 && b <= p && end > i && ends(&f.toks[end-1]) {
			break
		}
		end++
	}
	return end, end > i
}

// primary finds the start of the primary expression that ends before token i: a name, literal or bracket with all its
// dots, calls and indices.
func (f *file) primary(i int) (start int, ok bool) {
	first := f.stmts[f.toks[i].stmt].first
	for j := i - 1; j >= first && i-j < longest; {
		t := &f.toks[j]
		switch {
		case t.closes():
			if t.match < first {
				return i, false
			}
			j = t.match
			if j-1 >= first && ends(&f.toks[j-1]) && !t.is("}") {
				j--
				continue
			}
			return j, true
		case ends(t):
			if j-2 >= first && f.toks[j-1].is(".") {
				j -= 2
				continue
			}
			return j, true
		default:
			return i, false
		}
	}
	return i, false
}

// operands returns the texts on both sides of the operator in tokens [i, end), which has precedence p.
func (f *file) operands(i, end, p int) (left, right string, ok bool) {
	a, okA := f.left(i, p)
	b, okB := f.right(end, p)
	if !okA || !okB {
		return "", "", false
	}
	return strings.TrimSpace(f.text(a, i)), f.text(end, b), true
}

// assign returns the first `=` of tokens [a, b) directly inside bracket open, or b if there is none.
func (f *file) assign(a, b, open int) int {
	for a < b && !(f.toks[a].is("=") && f.toks[a].open == open) {
		a++
	}
	return a
}

// items splits the tokens between token open and its partner at the commas; a trailing comma adds nothing.
func (f *file) items(open int) [][2]int {
	return f.commas(open+1, f.toks[open].match, open)
}

// commas splits tokens [from, to) at the commas directly inside bracket open; a trailing one adds nothing.
func (f *file) commas(from, to, open int) [][2]int { return f.between(",", from, to, open) }

// between splits tokens [from, to) at an operator directly inside bracket open.
func (f *file) between(operator string, from, to, open int) [][2]int {
	var out [][2]int
	start := from
	for i := from; i < to; i++ {
		if t := &f.toks[i]; t.open == open && t.is(operator) && !t.params {
			out = append(out, [2]int{start, i})
			start = i + 1
		}
	}
	if start < to {
		out = append(out, [2]int{start, to})
	}
	return out
}

// text returns tokens [a, b) as the user wrote them, with the smaller habits in them rewritten, so that a remedy does
// not repeat them.
func (f *file) text(a, b int) string {
	if a >= b {
		return ""
	}
	var out strings.Builder
	at := f.toks[a].off
	for i := a; i < b; i++ {
		t := &f.toks[i]
		out.WriteString(f.src[at:t.off])
		word := t.text
		switch {
		case t.kind == kString:
			word = rewriteString(t.text)
		case t.is("is"):
			word = "=="
			if i+1 < b && f.toks[i+1].is("not") {
				word = "!="
				i++
				t = &f.toks[i]
			}
		case t.is("!"):
			word = "not "
		case t.kind == kOp && swaps[t.text] != "":
			word = swaps[t.text]
		case f.constant(i) != "":
			word = f.constant(i)
		}
		out.WriteString(word)
		at = t.end()
	}
	return out.String()
}
