package predicate

import (
	"strings"

	"github.com/agentscript/agentscript/engine/internal/typing"
)

// describe names the values of some cells: "79 < score < 80", "True", "any other text".
func (s *axis) describe(in func(cell int) bool) []string {
	if s.test != nil {
		if in(1) {
			return []string{s.test.String()}
		}
		return []string{s.test.Not().String()}
	}
	name, of := s.subject, s.subject+" = "
	if s.subject == "" {
		name, of = "x", ""
	}
	var out []string
	alone := func(i int) bool { // an int without the equal float, or the other way round
		twin := s.numbers[i].twin
		return twin != 0 && !in(i+twin)
	}
	for i := 0; i < len(s.numbers); i++ {
		if !in(i) {
			continue
		}
		whole := s.numbers[i]
		for !alone(i) && i+1 < len(s.numbers) && in(i+1) && !alone(i+1) {
			i++
			whole.to = s.numbers[i].to
		}
		out = append(out, whole.describe(name, s.whole))
	}
	for i, v := range s.values {
		if in(len(s.numbers) + i) {
			out = append(out, of+typing.Literal(v))
		}
	}
	rest := s.anyText >= 0 && in(s.anyText)
	switch texts := s.named(in, rest); {
	case rest && len(texts) == 0:
		out = append(out, "any text")
	case rest:
		out = append(out, "any text but "+typing.Listed(texts))
	default:
		for _, text := range texts {
			out = append(out, name+" = "+text)
		}
	}
	if s.other >= 0 && in(s.other) && s.subject != "" {
		out = append(out, "any "+s.subject)
	}
	if s.none >= 0 && in(s.none) {
		out = append(out, of+"None")
	}
	if s.absent >= 0 && in(s.absent) {
		out = append(out, "a value without "+s.subject)
	}
	return out
}

// named returns the texts to name: those in some cells, or with rest the exceptions among all texts.
func (s *axis) named(in func(cell int) bool, rest bool) []string {
	from := len(s.numbers) + len(s.values)
	as := map[string]bool{} // by text in lower case: whether its spellings that no condition names are in the cells
	for i, v := range s.spelled {
		as[lowered(v)] = in(from + len(s.texts) + i)
	}
	var texts []string
	but := map[string][]string{}
	for i, v := range s.texts {
		there := in(from + i)
		others, spelled := as[lowered(v)]
		switch {
		case spelled && others != rest && there != others:
			but[lowered(v)] = append(but[lowered(v)], typing.Literal(v))
		case spelled && others != rest:
		case there != rest:
			texts = append(texts, typing.Literal(v))
		}
	}
	for _, v := range s.spelled {
		if low := lowered(v); as[low] != rest {
			text := typing.Literal(v) + " in any case"
			if len(but[low]) > 0 {
				text += " but " + strings.Join(but[low], ", ")
			}
			texts = append(texts, text)
		}
	}
	return texts
}
