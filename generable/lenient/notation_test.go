package lenient

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// The corpus writes types in its own notation: the wanted type, then the meaning of its names.
//
//	list[A] | None; A = {x: int, y (why): float ge 0 = 1.5}; E = <low, "very high" (vh): "the worst">; U = kind(A, B)
//
// A schema lists fields, each with aliases in parentheses, limits after its type and a default; an enum lists values,
// each with aliases and a description; a union has its tag and variants.
type notation struct {
	toks []string
	refs map[string]*generable.Type
}

// typeOf reads a type in the notation.
func typeOf(t testing.TB, text string) *generable.Type {
	t.Helper()
	n := &notation{toks: notationTokens(text), refs: make(map[string]*generable.Type)}
	root := n.expr()
	for n.peek() == ";" {
		n.next()
		name := n.next()
		n.want("=")
		n.ref(name).Bind(gentest.Must(t)(n.definition(name)))
	}
	if n.peek() != "" {
		t.Fatalf("type %q: %q is left", text, n.peek())
	}
	for name, ref := range n.refs {
		if ref.Deref().Kind == generable.RefType {
			t.Fatalf("type %q: %s is not defined", text, name)
		}
	}
	return root.Deref()
}

// notationTokens splits a text into words, quoted texts and signs.
func notationTokens(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		n := strings.IndexFunc(s, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.-+", r)
		})
		switch {
		case s[0] == '"':
			n = 1
			for s[n] != '"' || s[n-1] == '\\' {
				n++
			}
			n++
		case n == 0:
			n = 1
		case n < 0:
			n = len(s)
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func (n *notation) peek() string {
	if len(n.toks) == 0 {
		return ""
	}
	return n.toks[0]
}

func (n *notation) next() string {
	tok := n.peek()
	if tok == "" {
		panic("notation: something is missing at the end")
	}
	n.toks = n.toks[1:]
	return tok
}

func (n *notation) want(tok string) {
	if got := n.next(); got != tok {
		panic(fmt.Sprintf("notation: %q where %q belongs", got, tok))
	}
}

// text reads a word or a quoted text.
func (n *notation) text() string {
	tok := n.next()
	if s, err := strconv.Unquote(tok); err == nil {
		return s
	}
	return tok
}

func (n *notation) ref(name string) *generable.Type {
	if n.refs[name] == nil {
		n.refs[name] = generable.RefTo(name)
	}
	return n.refs[name]
}

func (n *notation) expr() *generable.Type {
	types := []*generable.Type{n.term()}
	for n.peek() == "|" {
		n.next()
		types = append(types, n.term())
	}
	if len(types) == 1 {
		return types[0]
	}
	return generable.OneOf(types...)
}

func (n *notation) term() *generable.Type {
	scalars := map[string]*generable.Type{"any": generable.AnyT, "None": generable.NoneT, "bool": generable.BoolT, "int": generable.IntT, "float": generable.FloatT, "str": generable.StrT}
	switch tok := n.next(); tok {
	case "list", "dict":
		n.want("[")
		elem := n.expr()
		n.want("]")
		if tok == "list" {
			return generable.ListOfType(elem)
		}
		return generable.DictOfType(elem)
	default:
		if t := scalars[tok]; t != nil {
			return t
		}
		return n.ref(tok)
	}
}

// list reads items separated by commas up to a closing sign.
func (n *notation) list(end string, item func()) {
	for n.peek() != end {
		item()
		if n.peek() == "," {
			n.next()
		}
	}
	n.next()
}

func (n *notation) aliases() []string {
	var out []string
	if n.peek() == "(" {
		n.next()
		n.list(")", func() { out = append(out, n.text()) })
	}
	return out
}

func (n *notation) definition(name string) (*generable.Type, generable.FieldErrors) {
	switch open := n.next(); open {
	case "{":
		var fields []generable.Field
		n.list("}", func() { fields = append(fields, n.field()) })
		return generable.NewSchema(name, "", fields)
	case "<":
		var values []string
		var notes []generable.ValueNote
		n.list(">", func() {
			values = append(values, n.text())
			note := generable.ValueNote{Alias: n.aliases()}
			if n.peek() == ":" {
				n.next()
				note.Doc = n.text()
			}
			notes = append(notes, note)
		})
		return generable.NewNotedEnum(name, "", values, notes)
	default:
		var variants []*generable.Type
		n.want("(")
		n.list(")", func() { variants = append(variants, n.ref(n.next())) })
		return generable.NewUnion(name, "", open, variants)
	}
}

func (n *notation) field() generable.Field {
	f := generable.Field{Name: n.text(), Alias: n.aliases()}
	n.want(":")
	f.Type = n.expr()
	for n.peek() != "," && n.peek() != "}" {
		if f.Limits == nil {
			f.Limits = &generable.Limits{}
		}
		switch word := n.next(); word {
		case "=":
			f.Optional = true
			tok := n.next()
			if tok == "[" || tok == "{" { // empty
				tok += n.next()
			}
			f.Default = literal(tok)
		case "ge", "le", "gt", "lt":
			x, err := strconv.ParseFloat(n.next(), 64)
			if err != nil {
				panic(err)
			}
			*map[string]**float64{"ge": &f.Limits.Ge, "le": &f.Limits.Le, "gt": &f.Limits.Gt, "lt": &f.Limits.Lt}[word] = &x
		case "min_len", "max_len":
			x, err := strconv.Atoi(n.next())
			if err != nil {
				panic(err)
			}
			*map[string]**int{"min_len": &f.Limits.MinLen, "max_len": &f.Limits.MaxLen}[word] = &x
		case "pattern":
			f.Limits.Pattern = n.text()
		case "format":
			f.Limits.Format = n.text()
		default:
			panic("notation: what is " + word + "?")
		}
	}
	if f.Limits != nil && *f.Limits == (generable.Limits{}) {
		f.Limits = nil
	}
	return f
}

// literal returns a default: null, a truth value, a number, a quoted text, a list or object without members.
func literal(tok string) generable.Value {
	var x any
	if err := json.Unmarshal([]byte(tok), &x); err != nil {
		panic("notation: no default: " + tok)
	}
	switch x := x.(type) {
	case bool:
		return generable.BoolOf(x)
	case float64:
		if i, err := strconv.Atoi(tok); err == nil {
			return generable.IntOf(int64(i))
		}
		return gentest.Float(x)
	case string:
		return generable.StrOf(x)
	case map[string]any:
		return generable.NewMap(0).Value()
	case []any:
		return generable.ListOf()
	}
	return generable.Value{}
}

// sampleType returns one of the types that several tests share.
func sampleType(t testing.TB, name string) *generable.Type {
	t.Helper()
	return typeOf(t, name+`; Finding = {severity: Severity, where: str | None, line: int | None ge 1, tags: list[str] min_len 1 max_len 3};
		Severity = <low, medium, high>; Decision = type(Approved, Rejected); Approved = {confidence: float ge 0 le 1}; Rejected = {reason: str, hints: list[str] = []};
		Report = {author: str format email min_len 3, findings: list[Finding], by_file: dict[list[Finding]], verdict: Decision, plan_b: Decision | None,
			id: int | str ge 1 pattern "^[a-z]+$", extra: any = null};
		Tree = {name: str, children: list[Tree]}; Num = {value: float}; Add = {left: Expr, right: Expr}; Expr = kind(Num, Add);
		Measurement = {distance: float, label: str}`)
}
