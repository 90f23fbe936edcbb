package predicate

import (
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// maxParsed bounds the length of texts that are read as conditions, and so their nesting.
const maxParsed = 1 << 12

// Parse returns the condition in a text: in the syntax of scripts, as [Predicate.String] writes it, or as a comparison:
// ge(10) | ~eq("n", 0), n > 3. It returns nil for any other text.
func Parse(s string) *Predicate {
	if len(s) > maxParsed {
		return nil
	}
	p := parser{rest: s}
	if out := p.either(); out != nil && p.blanks() == "" {
		return out
	}
	return OfText(s)
}

// CheckOf returns the check of a field's value that a text describes, nil for a text that is not a condition.
func CheckOf(says string) *generable.Check {
	p := Parse(says)
	if p == nil {
		return nil
	}
	return &generable.Check{Says: says, Holds: p.Holds, Hints: p.Hints}
}

// parser reads a condition from the front of a text. It returns nil for what it cannot read.
type parser struct{ rest string }

func (p *parser) blanks() string {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	return p.rest
}

// sign skips a sign, if it comes next.
func (p *parser) sign(s string) bool {
	rest, ok := strings.CutPrefix(p.blanks(), s)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *parser) either() *Predicate {
	left := p.both()
	for left != nil && p.sign("|") {
		right := p.both()
		if right == nil {
			return nil
		}
		left = left.Or(right)
	}
	return left
}

func (p *parser) both() *Predicate {
	left := p.one()
	for left != nil && p.sign("&") {
		right := p.one()
		if right == nil {
			return nil
		}
		left = left.And(right)
	}
	return left
}

func (p *parser) one() *Predicate {
	switch {
	case p.sign("~"):
		if of := p.one(); of != nil {
			return of.Not()
		}
		return nil
	case p.sign("("):
		if in := p.either(); in != nil && p.sign(")") {
			return in
		}
		return nil
	}
	for op := Eq; op < And; op++ {
		if p.sign(predNames[op] + "(") {
			return p.test(op)
		}
	}
	switch {
	case p.word(predNames[True]):
		return Always()
	case p.word(predNames[False]):
		return Never()
	}
	return nil
}

// word skips a name, if it comes next.
func (p *parser) word(s string) bool {
	rest, ok := strings.CutPrefix(p.blanks(), s)
	if ok = ok && (rest == "" || strings.ContainsRune(" \t\r\n&|)=", rune(rest[0]))); ok {
		p.rest = rest
	}
	return ok
}

// options are the named arguments that change how a test compares.
var options = map[string]func(*Predicate) *Predicate{"fold": (*Predicate).Folded, "exact": (*Predicate).Exact}

// option reads a named argument, fold = True. It returns nil if none comes next; ok is false for one that the test does
// not have.
func (p *parser) option(op Op) (change func(*Predicate) *Predicate, ok bool) {
	for name, change := range options {
		if !p.word(name) {
			continue
		}
		v, ok := generable.Value{}, p.sign("=")
		if ok {
			v, ok = p.value()
		}
		yes, isBool := v.AsBool()
		switch {
		case !ok || !isBool || op > Le || name == "exact" && op > Ne:
			return nil, false
		case !yes:
			change = func(q *Predicate) *Predicate { return q }
		}
		return change, true
	}
	return nil, true
}

// test reads the arguments of a test: a field, a value, or both, and options.
func (p *parser) test(op Op) *Predicate {
	var args []generable.Value
	var changes []func(*Predicate) *Predicate
	for more := true; more; more = p.sign(",") {
		change, ok := p.option(op)
		switch {
		case !ok || change == nil && (len(args) == 2 || changes != nil):
			return nil
		case change != nil:
			changes = append(changes, change)
			continue
		}
		v, ok := p.value()
		if !ok {
			return nil
		}
		args = append(args, v)
	}
	if !p.sign(")") || len(args) == 0 {
		return nil
	}
	field, isText := args[0].AsStr()
	switch {
	case len(args) == 2 && !isText || len(args) == 1 && op == Has && !isText:
		return nil
	case len(args) == 1 && op == Has:
		test, _ := New(op, field, nil)
		return test
	case len(args) == 1:
		field = ""
	}
	test, err := New(op, field, &args[len(args)-1])
	if err != nil {
		return nil
	}
	for _, change := range changes {
		test = change(test)
	}
	return test
}

// value reads a text in quotes, a number, True, False or None.
func (p *parser) value() (generable.Value, bool) {
	if strings.HasPrefix(p.blanks(), `"`) {
		dec := json.NewDecoder(strings.NewReader(p.rest))
		var s string
		if dec.Decode(&s) != nil {
			return generable.Value{}, false
		}
		p.rest = p.rest[dec.InputOffset():]
		return generable.StrOf(s), true
	}
	end := strings.IndexAny(p.rest, ",) \t\r\n")
	if end <= 0 {
		return generable.Value{}, false
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	if word == "None" {
		return generable.Value{}, true
	}
	v, ok := literal(word)
	return v, ok && v.Kind() != generable.Str
}
